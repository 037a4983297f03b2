package dev.postrider.wake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.postrider.testing.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.ds.PGSimpleDataSource;

@Tag("PO-7")
class PromptSocketFactoryTest {
  private static final String NAME = PromptSocketFactory.class.getName();

  @Test
  void aLookDoesNotWaitAndLosesNothing() throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket socket = new PromptSocketFactory().createSocket()) {
      socket.connect(server.getLocalSocketAddress());
      try (Socket peer = server.accept()) {
        InputStream in = socket.getInputStream();
        OutputStream out = peer.getOutputStream();
        socket.setSoTimeout(1);
        assertThatThrownBy(() -> in.read(new byte[8]))
            .isInstanceOf(SocketTimeoutException.class)
            .hasMessage("nothing there");
        assertThatThrownBy(in::read).hasMessage("nothing there");

        out.write('a');
        await().until(() -> in.available() == 1);
        assertThat(in.read()).isEqualTo('a');

        socket.setSoTimeout(20_000);
        out.write('b');
        assertThat(in.read(new byte[8])).as("any other read waits").isEqualTo(1);
      }
    }
  }

  @Test
  void notificationsComeThroughIt() throws Exception {
    TestDatabase database = TestDatabase.create();
    DataSource prompt = PromptSocketFactory.on(database.dataSource());
    assertThat(((PGSimpleDataSource) prompt).getSocketFactory()).isEqualTo(NAME);
    try (Connection connection = prompt.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("listen bell");
      for (int i = 0; i < 3; i++) {
        database.execute("notify bell, '" + i + "'");
        PGNotification[] heard = connection.unwrap(PGConnection.class).getNotifications(20_000);
        assertThat(heard).extracting(PGNotification::getParameter).containsExactly("" + i);
      }
    }
  }

  @Test
  void copiesEverythingElse() {
    PGSimpleDataSource given = new PGSimpleDataSource();
    given.setUrl("jdbc:postgresql://db.test:5555/shop?ApplicationName=relay&sslmode=require");
    given.setUser("relay");
    given.setPassword("secret");
    PGSimpleDataSource prompt = (PGSimpleDataSource) PromptSocketFactory.on(given);
    assertThat(prompt.getSocketFactory()).isEqualTo(NAME);
    assertThat(given.getSocketFactory()).isNull();
    prompt.setSocketFactory(null);
    assertThat(prompt.getURL()).isEqualTo(given.getURL());
    assertThat(prompt.getUser()).isEqualTo("relay");
    assertThat(prompt.getPassword()).isEqualTo("secret");
  }

  @Test
  void leavesAloneWhatItCannotCopy() {
    PGSimpleDataSource own = new PGSimpleDataSource();
    own.setSocketFactory("com.example.Sockets");
    assertThat(PromptSocketFactory.on(own)).isSameAs(own);
    PGSimpleDataSource derived = new PGSimpleDataSource() {};
    assertThat(PromptSocketFactory.on(derived)).isSameAs(derived);
  }
}
