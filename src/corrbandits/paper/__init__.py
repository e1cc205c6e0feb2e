"""The paper, executed: its figures and what their captions claim, its remarks, its mistakes, its bounds audited."""
