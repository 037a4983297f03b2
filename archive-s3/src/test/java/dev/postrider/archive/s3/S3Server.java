package dev.postrider.archive.s3;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.util.SortedMap;
import java.util.TreeMap;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A real S3 server that keeps its objects in memory. */
final class S3Server implements AutoCloseable {
  static final String ACCESS_KEY = "AKIAPOSTRIDER";
  static final String SECRET_KEY = "s3cret/+=key";

  private final BlobStore store = new TransientNio2BlobStore();
  private final S3Proxy server;

  private S3Server(S3Proxy.Builder builder) throws Exception {
    server =
        builder.blobStore(store).endpoint(URI.create("http://127.0.0.1:0")).stopTimeout(0).build();
    server.start();
  }

  /** Takes requests with a good signature (version 4) only. */
  static S3Server start() throws Exception {
    return new S3Server(
        S3Proxy.builder().awsAuthentication(AuthenticationType.AWS_V4, ACCESS_KEY, SECRET_KEY));
  }

  /** Takes all requests. */
  static S3Server startOpen() throws Exception {
    return new S3Server(S3Proxy.builder().awsAuthentication(AuthenticationType.NONE, null, null));
  }

  int port() {
    return server.getPort();
  }

  void create(String bucket) {
    store.createContainer(bucket);
  }

  /** All objects of a bucket by name. */
  SortedMap<String, byte[]> objects(String bucket) throws Exception {
    TreeMap<String, byte[]> objects = new TreeMap<>();
    for (S3Object object : store.list(bucket).contents()) {
      try (var content = store.getBlob(bucket, object.key())) {
        objects.put(object.key(), content.readAllBytes());
      }
    }
    return objects;
  }

  void put(String bucket, String key, byte[] bytes) {
    store.putBlob(
        PutObjectRequest.builder()
            .bucket(bucket)
            .key(key)
            .contentLength((long) bytes.length)
            .build(),
        new ByteArrayInputStream(bytes));
  }

  void delete(String bucket, String key) {
    store.removeBlob(bucket, key);
  }

  @Override
  public void close() throws Exception {
    server.stop();
    store.close();
  }
}
