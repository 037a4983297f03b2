package dev.postrider.cli.destination;

import dev.postrider.destination.Destination;
import dev.postrider.message.Message;
import dev.postrider.message.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Shows what another destination has taken, one line of JSON per message. That nobody reads any
 * more is no failure: the other one has it. Called by one thread at a time.
 */
public final class EchoDestination implements Destination {
  private final Destination next;
  private final OutputStream out;

  public EchoDestination(Destination next, OutputStream out) {
    this.next = next;
    this.out = out;
  }

  @Override
  public void deliver(List<Message> batch, Answers answers) {
    Map<UUID, Message> messages = new ConcurrentHashMap<>();
    batch.forEach(message -> messages.put(message.id(), message));
    next.deliver(
        batch,
        new Answers() {
          @Override
          public void answer(UUID id, Outcome outcome) {
            if (outcome instanceof Outcome.Delivered) {
              show(messages.get(id));
            }
            answers.answer(id, outcome);
          }

          @Override
          public @Nullable Message deliveredNext(UUID id) {
            show(messages.get(id));
            Message following = answers.deliveredNext(id);
            if (following != null) {
              messages.put(following.id(), following);
            }
            return following;
          }
        });
  }

  private void show(@Nullable Message message) {
    if (message == null) {
      return;
    }
    try {
      out.write((LogDestination.line(message) + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
    } catch (IOException e) {
      return; // nobody reads
    }
  }

  @Override
  public boolean keepsOrder() {
    return next.keepsOrder();
  }

  @Override
  public boolean mayFollow(Message before, Message message) {
    return next.mayFollow(before, message);
  }

  @Override
  public @Nullable String target(Message message) {
    return next.target(message);
  }

  @Override
  public void close() {
    next.close();
  }
}
