/** Lists fields of services in this schema: rules on pull policies and users also read `services[]`. */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import type { ServiceRequest } from '../../../policies/request/request.ts';
import { DOCKER_USER, KUBERNETES_USER, PULL_POLICY } from '../../../relay/translate/aliases.ts';
import { isTextField, isTexts } from '../../../relay/translate/value-reader.ts';
import { findVariables, resolvePath } from '../../../relay/translate/variables.ts';

interface ServiceField {
  readonly field: keyof ServiceRequest;
  /** As the schema spells it, from the question on: `services[].pull_policies`. Undefined: the schema has none. */
  readonly path: string | undefined;
}

const PATHS: readonly (readonly [keyof ServiceRequest, readonly string[], (field: DescField) => boolean])[] =
  [
    ['name', ['name', 'image'], isTextField],
    ['alias', ['alias'], isTextField],
    ['pullPolicies', PULL_POLICY, isTexts],
    ['dockerUser', DOCKER_USER, isTextField],
    ['kubernetesUser', KUBERNETES_USER, isTextField],
  ];

/** Every field of a service with its path; empty where the schema has no services. */
export function serviceFields(question: DescMessage): readonly ServiceField[] {
  const services = resolvePath(question, 'services');
  if (services?.leaf.fieldKind !== 'list') return [];
  const at = `${services.path}[]`;
  if (services.leaf.listKind !== 'message') return [{ field: 'name', path: at }];
  const { message } = services.leaf;
  const variables = findVariables(message);
  return [
    ...PATHS.map(([field, paths, fits]): ServiceField => {
      const [found] = paths
        .flatMap((path) => resolvePath(message, path) ?? [])
        .filter(({ leaf }) => fits(leaf));
      return { field, path: found && `${at}.${found.path}` };
    }),
    { field: 'variables', path: variables && `${at}.${variables.path}` },
  ];
}
