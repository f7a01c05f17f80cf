"""The service domain: the household domain with rooms, people, furniture and the skills of a service robot."""
