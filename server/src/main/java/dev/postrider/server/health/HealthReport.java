package dev.postrider.server.health;

import java.util.Map;

/** How everything is, and each part. */
record HealthReport(Health status, Map<String, HealthPart> parts) {}
