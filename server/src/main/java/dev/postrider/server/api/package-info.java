/**
 * What an endpoint is: a declaration of who may call it and what it takes, and a handler that gets
 * its values checked. Routing, access, validation and the OpenAPI document all come from it.
 * Nothing here knows what any endpoint is about.
 */
@NullMarked
package dev.postrider.server.api;

import org.jspecify.annotations.NullMarked;
