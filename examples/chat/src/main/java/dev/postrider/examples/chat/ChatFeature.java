package dev.postrider.examples.chat;

import dev.postrider.access.NewToken;
import dev.postrider.access.Permission;
import dev.postrider.access.Scope;
import dev.postrider.examples.chat.ChatRooms.NoSuchRoomException;
import dev.postrider.examples.chat.ChatRooms.Room;
import dev.postrider.message.Enqueued;
import dev.postrider.server.api.Call;
import dev.postrider.server.api.Endpoint;
import dev.postrider.server.api.Feature;
import dev.postrider.server.api.Field;
import dev.postrider.server.api.Listing;
import dev.postrider.server.api.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The chat's own part of a server node: the page, and a call to post. That they come from where the
 * stream comes from makes all of it one origin for browsers. Thread-safe.
 */
final class ChatFeature implements Feature {
  private static final int HISTORY = 200;
  private static final String ROOM = "/my/projects/{project}/chat/{session}/";
  private static final Field PROJECT = name("project", "The tenant that the token is for");
  private static final Field SESSION = name("session", "A session of the project");
  private static final Field KEY =
      name("Idempotency-Key", "Names the message: sent again, it is said once").mandatory();

  private static final String POLICY =
      "default-src 'none'; connect-src 'self'; img-src data:; style-src 'nonce-%1$s';"
          + " script-src 'nonce-%1$s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final ChatRooms rooms;
  private final String page;

  ChatFeature(ChatRooms rooms) {
    this.rooms = rooms;
    this.page = page();
  }

  /** For a project's clients: its own messages and events, on every node, and nothing else. */
  static NewToken token(String name, String project) {
    return NewToken.of(name, Permission.STREAM, Permission.PAYLOAD_READ, Permission.READ)
        .within(new Scope(project, ChatRooms.NAMESPACE));
  }

  private static Field name(String name, String description) {
    return Field.text(name, description).between(1, 100);
  }

  @Override
  public List<Endpoint> endpoints() {
    return List.of(
        Endpoint.getPublic("/")
            .about("chat", "The page; it has project, session and token from its address")
            .produces("text/html")
            .handledBy(this::show),
        // Who may follow may talk. The permission to enqueue would let clients past our tables.
        Endpoint.post(ROOM + "message", Permission.STREAM)
            .about("chat", "Say something; it is on its way when this answers")
            .scoped()
            .path(PROJECT)
            .path(SESSION)
            .header(KEY)
            .body(
                name("author", "Who says it").mandatory(),
                Field.text("text", "What is said").mandatory())
            .status(201)
            .answers(Enqueued.class)
            .handledBy(this::post),
        Endpoint.get(ROOM + "messages", Permission.STREAM)
            .about("chat", "What was said last, the oldest first")
            .scoped()
            .path(PROJECT)
            .path(SESSION)
            .answersList(ChatRooms.Said.class)
            .handledBy(call -> Listing.of(rooms.history(room(call), HISTORY))));
  }

  private Enqueued post(Call call) throws SQLException {
    Room room = room(call);
    try {
      return rooms.post(
          room,
          call.body().textOf("author"),
          call.body().textOf("text"),
          call.headers().textOf(KEY.name()));
    } catch (NoSuchRoomException e) {
      throw notFound(e);
    }
  }

  /** A room of another project is answered like one that does not exist. */
  private static Room room(Call call) {
    Room room = new Room(call.path().textOf("project"), call.path().textOf("session"));
    if (!call.caller().scope().covers(room.project(), ChatRooms.ROUTE)) {
      throw notFound(new NoSuchRoomException(room));
    }
    return room;
  }

  private static RuntimeException notFound(NoSuchRoomException e) {
    return Problem.notFound(String.valueOf(e.getMessage())).toException();
  }

  /** Nothing but its own script runs on the page, and it talks to nobody but this node. */
  private @Nullable Object show(Call call) {
    String nonce = UUID.randomUUID().toString();
    call.context()
        .header("Content-Security-Policy", POLICY.formatted(nonce))
        .contentType("text/html; charset=utf-8")
        .result(page.replace("{nonce}", nonce));
    return null;
  }

  private static String page() {
    try (InputStream file = ChatFeature.class.getResourceAsStream("chat.html")) {
      if (file == null) {
        throw new IllegalStateException("there is no chat.html beside the class");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException("chat.html cannot be read", e);
    }
  }
}
