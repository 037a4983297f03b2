package dev.postrider.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;

/** The console and the API of a Postrider server, behind the security of the application. */
@AutoConfiguration(after = PostriderAutoConfiguration.class)
@ConditionalOnClass(name = "jakarta.servlet.http.HttpServlet")
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(name = "postrider.console.url")
@ConditionalOnBean(OutboxSchema.class)
public class PostriderConsoleAutoConfiguration {
  @Bean
  ServletRegistrationBean<ConsoleServlet> postriderConsole(PostriderProperties properties) {
    PostriderProperties.Console console = properties.console();
    String url =
        Destinations.given("postrider.console.url", console.url(), "http://127.0.0.1:7080");
    String token = Destinations.given("postrider.console.token", console.token(), "pr_…");
    return new ServletRegistrationBean<>(new ConsoleServlet(url, token), console.path() + "/*");
  }
}
