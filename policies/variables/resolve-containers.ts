import type { ServiceRequest } from '../request/request.ts';
import type { RunnerVariables } from './runner-variables.ts';

type Resolve = RunnerVariables['resolve'];
/** The texts of a request that the runner expands before its executor looks at them. */
type Containers = { image?: unknown; dockerUser?: unknown; kubernetesUser?: unknown; services?: unknown };

/**
 * Puts variables into the image names and users of a request as the runner will, so that an allow list judges what the
 * runner starts. What cannot be told stays as it is written, with its `$`: no rule takes that for allowed.
 */
export function resolveContainers(request: Containers, resolve: Resolve): void {
  resolveField(request, 'image', resolve, 2);
  resolveUsers(request, resolve);
  if (!Array.isArray(request.services)) return;
  request.services = request.services.map((service: ServiceRequest) => {
    const resolved = { ...service, name: resolve(service.name, 1) || service.name };
    resolveUsers(resolved, resolve);
    return resolved;
  });
}

function resolveUsers(container: Containers, resolve: Resolve): void {
  resolveField(container, 'dockerUser', resolve, 1);
  resolveField(container, 'kubernetesUser', resolve, 1);
}

/** A text that becomes empty is dropped: the runner takes its default, as if none had been written. */
function resolveField(
  container: Containers,
  name: 'image' | 'dockerUser' | 'kubernetesUser',
  resolve: Resolve,
  passes: 1 | 2,
): void {
  const text = container[name];
  if (typeof text !== 'string') return;
  const resolved = resolve(text, passes);
  if (resolved === '') delete container[name];
  else if (resolved !== undefined) container[name] = resolved;
}
