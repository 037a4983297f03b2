package dev.postrider.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.io.ByteArrayInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("OP-3")
class IncomingBodyTest {
  private final BodyMemory memory = new BodyMemory(2000);
  private final IncomingBody body =
      new IncomingBody(
          new Sent(new byte[500]), 500, 0, new IncomingBody.Share(memory, "ann", 1000));

  @Test
  void aBodyGivesAllItsMemoryBack() throws Exception {
    body.onDataAvailable();
    body.onAllDataRead();
    assertThat(body.whole().get()).hasSize(500);
    assertThatThrownBy(() -> memory.hold("ann", 501)).isInstanceOf(ProblemException.class);
    body.release();
    allIsFree();
  }

  /** The clock gives it up just before its last byte comes. */
  @Test
  void aBodyThatWasGivenUpTakesNoMemoryWhenItEnds() throws Exception {
    body.onDataAvailable();
    body.fail(Bodies.tooLarge(1));
    body.release();
    body.onAllDataRead();
    allIsFree();
  }

  private void allIsFree() {
    assertThatCode(
            () -> {
              memory.hold("ann", 1000);
              memory.hold("bob", 1000);
            })
        .doesNotThrowAnyException();
  }

  private static final class Sent extends ServletInputStream {
    private final ByteArrayInputStream bytes;

    Sent(byte[] bytes) {
      this.bytes = new ByteArrayInputStream(bytes);
    }

    @Override
    public int read() {
      return bytes.read();
    }

    @Override
    public int read(byte[] into, int offset, int length) {
      return bytes.read(into, offset, length);
    }

    @Override
    public boolean isReady() {
      return bytes.available() > 0;
    }

    @Override
    public boolean isFinished() {
      return !isReady();
    }

    @Override
    public void setReadListener(ReadListener listener) {}
  }
}
