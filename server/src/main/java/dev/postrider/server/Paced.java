package dev.postrider.server;

import dev.postrider.server.api.Call;
import java.nio.ByteBuffer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Notes what waits for the caller to take it. Thread-safe. */
final class Paced extends Response.Wrapper {
  private final Line line;

  Paced(Request request, Response response, Line line) {
    super(request, response);
    this.line = line;
  }

  @Override
  public void write(boolean last, @Nullable ByteBuffer bytes, Callback callback) {
    int size = bytes == null ? 0 : bytes.remaining();
    if (size == 0 || getRequest().getAttribute(Call.LASTING) != null) {
      super.write(last, bytes, callback);
      return;
    }
    line.writing(size);
    super.write(
        last,
        bytes,
        Callback.from(
            callback.getInvocationType(),
            () -> {
              line.written();
              callback.succeeded();
            },
            failure -> {
              line.written();
              callback.failed(failure);
            }));
  }
}
