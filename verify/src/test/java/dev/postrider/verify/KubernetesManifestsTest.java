package dev.postrider.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The manifests of deploy/kubernetes, judged by the types of Kubernetes' own API. */
class KubernetesManifestsTest {
  private static final Path DIRECTORY = Path.of("../deploy/kubernetes");
  private static final Map<String, String> VERSIONS =
      Map.of(
          "Namespace", "v1",
          "ServiceAccount", "v1",
          "Service", "v1",
          "Job", "batch/v1",
          "Deployment", "apps/v1",
          "PodDisruptionBudget", "policy/v1",
          "PersistentVolumeClaim", "v1");

  record Manifest(String file, JsonObject content) {
    String kind() {
      return content.get("kind").getAsString();
    }

    JsonObject pod() {
      return at(content, "spec", "template", "spec");
    }

    JsonObject container() {
      return pod().getAsJsonArray("containers").get(0).getAsJsonObject();
    }

    @Override
    public String toString() {
      return file + " " + kind();
    }
  }

  static List<Manifest> manifests() throws Exception {
    List<Manifest> manifests = new ArrayList<>();
    for (String file : List.of("namespace", "migrate", "relay", "server", "archive/claim")) {
      for (JsonObject document : read(file)) {
        manifests.add(new Manifest(file, document));
      }
    }
    return manifests;
  }

  private static List<JsonObject> read(String file) throws IOException {
    String yaml = Files.readString(DIRECTORY.resolve(file + ".yaml"));
    List<JsonObject> documents = new ArrayList<>();
    for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(yaml)) {
      documents.add(new Gson().toJsonTree(document).getAsJsonObject());
    }
    return documents;
  }

  static Stream<Manifest> workloads() throws Exception {
    return manifests().stream().filter(m -> List.of("Job", "Deployment").contains(m.kind()));
  }

  @Test
  void kustomizeTakesEveryFile() throws Exception {
    List<String> taken = new ArrayList<>(List.of("kustomization.yaml", "archive"));
    JsonObject kustomization = read("kustomization").get(0);
    kustomization.getAsJsonArray("resources").forEach(file -> taken.add(file.getAsString()));
    kustomization
        .getAsJsonArray("configMapGenerator")
        .forEach(
            map ->
                map.getAsJsonObject()
                    .getAsJsonArray("files")
                    .forEach(file -> taken.add(file.getAsString())));
    assertThat(names(DIRECTORY)).containsExactlyInAnyOrderElementsOf(taken);
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  /** The patch adds to what the Deployment has, by the names that Kustomize merges by. */
  @Test
  void anArchiveIsMountedIntoTheRelay() throws Exception {
    JsonObject component = read("archive/kustomization").get(0);
    assertThat(component.get("kind").getAsString()).isEqualTo("Component");
    assertThat(component.getAsJsonArray("resources").toString()).isEqualTo("[\"claim.yaml\"]");
    assertThat(component.getAsJsonArray("patches").toString())
        .isEqualTo("[{\"path\":\"relay.yaml\"}]");
    assertThat(names(DIRECTORY.resolve("archive")))
        .containsExactlyInAnyOrder("kustomization.yaml", "claim.yaml", "relay.yaml");

    Manifest claim = only("archive/claim");
    Manifest relay = workloads().filter(m -> m.file().equals("relay")).findFirst().orElseThrow();
    Manifest patch = new Manifest("archive/relay", read("archive/relay").get(0));
    assertThat(name(patch.content())).isEqualTo(name(relay.content()));
    assertThat(patch.container().get("name")).isEqualTo(relay.container().get("name"));
    JsonObject volume = patch.pod().getAsJsonArray("volumes").get(0).getAsJsonObject();
    JsonObject mount = patch.container().getAsJsonArray("volumeMounts").get(0).getAsJsonObject();
    JsonObject variable = patch.container().getAsJsonArray("env").get(0).getAsJsonObject();
    assertThat(at(volume, "persistentVolumeClaim").get("claimName").getAsString())
        .isEqualTo(name(claim.content()));
    assertThat(mount.get("name")).isEqualTo(volume.get("name"));
    assertThat(variable.get("name").getAsString()).isEqualTo("POSTRIDER_ARCHIVE_DIRECTORY");
    assertThat(variable.get("value")).isEqualTo(mount.get("mountPath"));
    relay.pod().getAsJsonArray("volumes").add(volume);
    relay.container().getAsJsonArray("volumeMounts").add(mount);
    relay.container().getAsJsonArray("env").add(variable);
    validate("Deployment", relay.content());
  }

  private static Manifest only(String file) throws Exception {
    return manifests().stream().filter(m -> m.file().equals(file)).findFirst().orElseThrow();
  }

  private static String name(JsonObject content) {
    return at(content, "metadata").get("name").getAsString();
  }

  @ParameterizedTest
  @MethodSource("manifests")
  void everyFieldExistsInTheApi(Manifest manifest) throws Exception {
    assertThat(manifest.content().get("apiVersion").getAsString())
        .isEqualTo(VERSIONS.get(manifest.kind()));
    validate(manifest.kind(), manifest.content());
  }

  @Test
  void aFieldThatDoesNotExistIsFound() throws Exception {
    Manifest relay = workloads().filter(m -> m.file().equals("relay")).findFirst().orElseThrow();
    relay.container().addProperty("readynessProbe", true);
    assertThatThrownBy(() -> validate("Deployment", relay.content()))
        .hasMessageContaining("readynessProbe");
    relay.container().remove("readynessProbe");
    relay.container().remove("name");
    assertThatThrownBy(() -> validate("Deployment", relay.content())).hasMessageContaining("name");
  }

  @ParameterizedTest
  @MethodSource("workloads")
  void nothingRunsAsRootOrWritesToItsImage(Manifest workload) {
    assertThat(at(workload.pod(), "securityContext"))
        .isEqualTo(
            JsonParser.parseString(
                """
                {"runAsNonRoot": true, "runAsUser": 10001, "runAsGroup": 10001, "fsGroup": 10001,
                 "seccompProfile": {"type": "RuntimeDefault"}}"""));
    assertThat(at(workload.container(), "securityContext"))
        .isEqualTo(
            JsonParser.parseString(
                """
                {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                 "capabilities": {"drop": ["ALL"]}}"""));
    assertThat(workload.pod().get("automountServiceAccountToken").getAsBoolean()).isFalse();
  }

  @ParameterizedTest
  @MethodSource("workloads")
  void passwordsComeFromSecrets(Manifest workload) {
    JsonArray variables = workload.container().getAsJsonArray("env");
    for (JsonElement variable : variables) {
      String name = variable.getAsJsonObject().get("name").getAsString();
      if (name.endsWith("PASSWORD")) {
        assertThat(at(variable.getAsJsonObject(), "valueFrom").has("secretKeyRef")).isTrue();
      }
    }
    assertThat(variables.toString()).contains("POSTRIDER_DATABASE_PASSWORD_FILE");
  }

  private static void validate(String kind, JsonObject content) throws Exception {
    Class<?> type = Class.forName("io.kubernetes.client.openapi.models.V1" + kind);
    try {
      type.getMethod("validateJsonElement", JsonElement.class).invoke(null, content);
    } catch (InvocationTargetException e) {
      throw new AssertionError(String.valueOf(e.getCause()), e);
    }
  }

  private static JsonObject at(JsonObject object, String... path) {
    JsonObject found = object;
    for (String name : path) {
      found = found.getAsJsonObject(name);
    }
    return found;
  }
}
