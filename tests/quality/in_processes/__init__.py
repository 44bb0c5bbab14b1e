"""What the processes of tests import while their coverage is measured. Their `PYTHONPATH` names this folder."""
