package dev.postrider.server.stream;

import dev.postrider.internal.stream.StreamEvent;
import dev.postrider.internal.stream.StreamPage;
import dev.postrider.internal.text.LogLine;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connected client: its position, and what it wants. It takes what comes next from the window
 * or, while it is behind that, from pages of its own; positions without gaps make the two meet
 * without loss or repetition. Thread-safe; nothing here waits.
 */
final class Client implements ClientConnection.Owner {
  private static final Logger log = LoggerFactory.getLogger(Client.class);

  /** Why a server's streams end with it; no reason to name each of them in the log. */
  static final String SHUTDOWN = "shutdown";

  private final Subscription wanted;
  private final ClientConnection clientConnection;
  private final Hub hub;
  private long position;
  private @Nullable Page page;
  private boolean asked;
  private boolean live;
  private boolean opened;
  private boolean closed;
  private boolean unflushed;
  private boolean heartbeatDue;
  private byte @Nullable [] farewell;
  private boolean ending;
  private long lastWritten = System.nanoTime();
  private long waitingSince = -1;

  /** What was read for this client alone, up to a position. */
  private record Page(Queue<StreamEvent> events, long end) {}

  Client(Subscription wanted, ClientConnection clientConnection, Hub hub) {
    this.wanted = wanted;
    this.clientConnection = clientConnection;
    this.hub = hub;
    this.position = wanted.after();
  }

  Subscription wanted() {
    return wanted;
  }

  synchronized long position() {
    return position;
  }

  /** At the beginning the client hears from where it starts, should it have to resume. */
  @Override
  public synchronized void ready() {
    waitingSince = -1;
    heartbeatDue |= !opened;
    opened = true;
    pump();
  }

  @Override
  public void lost() {
    close();
  }

  /** Writes as much as there is and the connection takes. */
  synchronized void pump() {
    if (!opened || closed) {
      return;
    }
    if (live && !hub.window().covers(position)) {
      end("slow", null);
    }
    try {
      while (clientConnection.ready()) {
        if (!writeOne()) {
          return;
        }
      }
      waitingSince = waitingSince < 0 ? System.nanoTime() : waitingSince;
    } catch (IOException | RuntimeException e) {
      // What a lost connection throws depends on the moment.
      log.debug("{}", LogLine.of("stream_client_lost").put("error", e.getMessage()));
      close();
    }
  }

  /** A record or, if there is none, a flush; false when there is nothing left to do. */
  private boolean writeOne() throws IOException {
    byte @Nullable [] record = next();
    if (record != null) {
      clientConnection.write(record);
      lastWritten = System.nanoTime();
      unflushed = true;
      return true;
    } else if (unflushed) {
      unflushed = false;
      clientConnection.flush();
      return ending;
    } else if (ending) {
      close();
    }
    return false;
  }

  private byte @Nullable [] next() {
    byte @Nullable [] last = farewell;
    if (ending) {
      farewell = null;
      return last;
    } else if (heartbeatDue) {
      heartbeatDue = false;
      return wanted.format().heartbeat(position);
    }
    return ofPage();
  }

  private byte @Nullable [] ofPage() {
    Page own = page;
    if (own == null) {
      return asked ? null : ofWindow();
    }
    @Nullable StreamEvent event = own.events.poll();
    if (event != null) {
      position = event.position();
      return wanted.format().event(position, event.json(wanted.withContent()));
    }
    position = own.end;
    drop();
    return ofWindow();
  }

  private byte @Nullable [] ofWindow() {
    @Nullable Entry entry = hub.window().after(position);
    while (entry != null) {
      position++;
      if (wanted.filter().matches(entry.event())) {
        return entry.bytes(wanted.format(), wanted.withContent());
      }
      entry = hub.window().after(position);
    }
    live = hub.window().covers(position);
    if (!live) {
      asked = true;
      hub.catchUp().ask(this);
    }
    return null;
  }

  /** What was asked for; it is kept until it is written. */
  synchronized void take(StreamPage read) {
    asked = false;
    page = new Page(new ArrayDeque<>(read.events()), read.position());
    if (closed || ending) {
      drop();
    }
    pump();
  }

  private void drop() {
    if (page != null) {
      page = null;
      hub.catchUp().dropped(this);
    }
  }

  /** Says why and from where to resume, and closes when that is written. */
  synchronized void end(String reason, @Nullable Long oldest) {
    if (closed || ending) {
      return;
    }
    if (!reason.equals(SHUTDOWN)) {
      log.info(
          "{}",
          LogLine.of("stream_client_ended")
              .put("reason", reason)
              .put("token", wanted.token().name())
              .put("position", position));
    }
    ending = true;
    farewell = wanted.format().end(reason, position, oldest);
    // From now on it has as long again to take the end.
    waitingSince = waitingSince < 0 ? -1 : System.nanoTime();
    drop();
  }

  /** Called now and then: heartbeats, and an end for those who take nothing. */
  synchronized void tick(Duration heartbeat, Duration stall) {
    long now = System.nanoTime();
    if (waitingSince >= 0
        && now - waitingSince > stall.toNanos()
        && clientConnection.idle().compareTo(stall) > 0) {
      if (ending) {
        cut();
        return;
      }
      end("slow", null);
    }
    heartbeatDue |= now - lastWritten >= heartbeat.toNanos();
    pump();
  }

  /** Closes, whether the client has taken everything or not. */
  synchronized void cut() {
    if (!closed) {
      clientConnection.cut();
      close();
    }
  }

  private synchronized void close() {
    if (!closed) {
      closed = true;
      drop();
      hub.left(this);
      clientConnection.finish();
    }
  }
}
