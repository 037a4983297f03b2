package dev.postrider.server.operate;

import dev.postrider.access.Permission;
import dev.postrider.access.Token;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A token as it goes out. */
record ShownToken(
    long id,
    String name,
    @Nullable String role,
    List<String> permissions,
    @Nullable String tenant,
    @Nullable String namespace,
    List<String> topics,
    String createdBy,
    Instant createdAt,
    @Nullable Instant expiresAt,
    @Nullable String revokedBy,
    @Nullable Instant revokedAt) {
  static ShownToken of(Token token) {
    return new ShownToken(
        token.id(),
        token.name(),
        token.role() == null ? null : token.role().label(),
        token.permissions().stream().map(Permission::label).sorted().toList(),
        token.scope().tenant(),
        token.scope().namespace(),
        token.scope().topics(),
        token.createdBy(),
        token.createdAt(),
        token.expiresAt(),
        token.revokedBy(),
        token.revokedAt());
  }
}
