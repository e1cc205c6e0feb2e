"""From a file of arms and what is known of them to the prior and the policy of a study."""
