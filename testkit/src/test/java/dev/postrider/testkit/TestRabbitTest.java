package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which broker tests get, and what they say if there is none. */
@Tag("OP-6")
class TestRabbitTest {
  @Test
  void theOneThatIsNamedOrElseOurOwn() {
    String own = TestRabbit.uri(null);
    assertThat(own).isEqualTo(TestRabbit.own().uri()).isEqualTo(TestRabbit.uri(" "));
    assertThat(TestRabbit.uri(own + "/other")).isEqualTo(own + "/other");
  }

  @Test
  void oneThatDoesNotAnswerIsNamedWithoutItsPassword() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    assertThatThrownBy(() -> TestRabbit.uri("amqp://guest:s3cret@127.0.0.1:" + free))
        .hasMessageContaining("POSTRIDER_TEST_AMQP names a broker at 127.0.0.1:" + free)
        .hasMessageContaining("apt-get install rabbitmq-server")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void whatIsNoAddressIsRefusedWithoutRepeatingIt() {
    for (String wrong : new String[] {"http://guest:s3cret@host", "amqp://guest:s3 cret", "s3c"}) {
      assertThatThrownBy(() -> TestRabbit.uri(wrong))
          .hasMessageContaining("expected a URI as amqp[s]://")
          .hasMessageNotContaining("s3")
          .hasNoCause();
    }
  }

  @Test
  void aMissingServerIsNamedWithTheCommandThatInstallsIt(@TempDir Path empty) {
    assertThatThrownBy(() -> RabbitServer.requireInstalled(empty))
        .hasMessageContaining(empty + "/rabbitmq-server")
        .hasMessageContaining("apt-get install rabbitmq-server");
  }
}
