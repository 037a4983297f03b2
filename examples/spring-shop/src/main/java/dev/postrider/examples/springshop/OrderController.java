package dev.postrider.examples.springshop;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderController {
  private final Orders orders;

  OrderController(Orders orders) {
    this.orders = orders;
  }

  @PutMapping("/orders/{id}")
  @ResponseStatus(HttpStatus.CREATED)
  void create(@PathVariable("id") String id, @RequestParam("cents") long cents) {
    orders.create(id, cents);
  }
}
