"""What a study has found, as numbers, sentences, data and maps."""
