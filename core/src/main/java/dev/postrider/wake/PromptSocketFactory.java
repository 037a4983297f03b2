package dev.postrider.wake;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;
import javax.sql.DataSource;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Sockets for a connection that waits for notifications. The driver hands one over only after it
 * has looked for another, with a read that waits a millisecond if there is none; here such a read
 * returns at once.
 *
 * <p>The listener of a relay uses it by itself on a {@link PGSimpleDataSource}. Elsewhere give the
 * driver the parameter {@code socketFactory=dev.postrider.wake.PromptSocketFactory}. Thread-safe.
 */
public final class PromptSocketFactory extends SocketFactory {
  /** The timeout by which the driver's look for more can be told from any other read. */
  private static final int LOOK_MS = 1;

  /** Called by the driver. */
  public PromptSocketFactory() {}

  /** The same database through sockets of this kind; what cannot be copied is left as it is. */
  public static DataSource on(DataSource given) {
    // A subclass may do more than its fields say, and a driver of another class loader would not
    // find this class.
    if (given.getClass() != PGSimpleDataSource.class || !knownToDriver()) {
      return given;
    }
    PGSimpleDataSource simple = (PGSimpleDataSource) given;
    if (simple.getSocketFactory() != null) {
      return given;
    }
    PGSimpleDataSource prompt = new PGSimpleDataSource();
    try {
      prompt.initializeFrom(simple);
    } catch (IOException | ClassNotFoundException e) {
      return given;
    }
    prompt.setSocketFactory(PromptSocketFactory.class.getName());
    return prompt;
  }

  private static boolean knownToDriver() {
    try {
      String name = PromptSocketFactory.class.getName();
      return Class.forName(name, false, Driver.class.getClassLoader()) == PromptSocketFactory.class;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  @Override
  public Socket createSocket() {
    return new PromptSocket();
  }

  @Override
  public Socket createSocket(String host, int port) throws IOException {
    throw new SocketException("made unconnected only");
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
      throws IOException {
    throw new SocketException("made unconnected only");
  }

  @Override
  public Socket createSocket(InetAddress host, int port) throws IOException {
    throw new SocketException("made unconnected only");
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
      throws IOException {
    throw new SocketException("made unconnected only");
  }

  private static final class PromptSocket extends Socket {
    private volatile boolean looking;

    @Override
    public synchronized void setSoTimeout(int millis) throws SocketException {
      super.setSoTimeout(millis);
      looking = millis == LOOK_MS;
    }

    @Override
    public InputStream getInputStream() throws IOException {
      return new FilterInputStream(super.getInputStream()) {
        @Override
        public int read() throws IOException {
          endALookInVain();
          return super.read();
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
          endALookInVain();
          return super.read(bytes, offset, length);
        }

        private void endALookInVain() throws IOException {
          if (looking && available() == 0) {
            throw new SocketTimeoutException("nothing there");
          }
        }
      };
    }
  }
}
