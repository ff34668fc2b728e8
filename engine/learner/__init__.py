"""What is known of a learner: ability per objective, memory of seen items, mastery, readiness and a plan; all pure."""
