package dev.postrider.server;

import dev.postrider.server.api.JsonText;
import dev.postrider.server.api.Problem;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** What never reached an endpoint, such as a request line that is none, is a problem too. */
final class JettyErrors extends ErrorHandler {
  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    int status = response.getStatus();
    write(
        response,
        callback,
        Problem.of(
            status, "http", HttpStatus.getMessage(status), "the request could not be understood"));
    return true;
  }

  static void write(Response response, Callback callback, Problem problem) {
    response.setStatus(problem.status());
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, Problem.MEDIA_TYPE);
    if (problem.status() == 503) {
      response.getHeaders().put(HttpHeader.RETRY_AFTER, "1");
    }
    response.write(true, ByteBuffer.wrap(JsonText.bytes(problem)), callback);
  }
}
