package dev.postrider.server.health;

import java.util.Map;

/** How a part is; the details are for callers who may see them. */
record Part(Health status, Map<String, Object> details) {}
