// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

/**
 * The policies of the resource method of one request.
 *
 * @param method the policies that annotations bind to the method
 * @param request the policies that apply in this request, with those of path rules
 * @param pending whether their decision waits for the method's arguments
 */
record RequestBinding(Binding method, Binding request, boolean pending) {}
