"""Sound of a simulated scene: typed events, synthesis from physics, the room, and a microphone."""
