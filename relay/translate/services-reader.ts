import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { ServiceRequest } from '../../policies/request/request.ts';
import type { Wanted } from '../wire/plan.ts';
import { DOCKER_USER, KUBERNETES_USER, PULL_POLICY } from './container-paths.ts';
import { type MessageObject, type ResolvedPath, resolvePath } from './field-path.ts';
import { LIST_LENGTH_MAX } from './text-length.ts';
import { isText, isTexts, label, list, text, type ValueReader } from './value-reader.ts';
import { findVariables, readServiceVariables } from './variables.ts';

/** How a list of services is read, and what of each. */
export interface ServicesReading {
  readonly read: ValueReader;
  readonly within: readonly Wanted[];
}

/** For a list of messages, or only of images. */
export function servicesReader(field: DescField, path: string): ServicesReading | undefined {
  if (field.fieldKind !== 'list') return undefined;
  if (field.listKind === 'scalar' && field.scalar === ScalarType.STRING) {
    const read: ValueReader = (raw, problems) =>
      list(raw, path, problems, (entry): ServiceRequest | undefined => {
        const name = text(entry, path, problems);
        return name === undefined ? undefined : { name };
      });
    return { read, within: [] };
  }
  if (field.listKind !== 'message') return undefined;
  const service = serviceReader(field.message, path);
  if (service === undefined) return undefined;
  const read: ValueReader = (raw, problems) =>
    list(raw, path, problems, (entry) => service.read(entry as MessageObject, problems));
  return { read, within: service.wanted };
}

interface ServiceReader {
  readonly read: (service: MessageObject, problems: string[]) => ServiceRequest | undefined;
  readonly wanted: readonly Wanted[];
}

function serviceReader(desc: DescMessage, path: string): ServiceReader | undefined {
  const name = firstOf(desc, ['name', 'image'], isText);
  if (name === undefined) return undefined;
  const alias = firstOf(desc, ['alias'], isText);
  const pullPolicy = firstOf(desc, PULL_POLICY, isTexts);
  const dockerUser = firstOf(desc, DOCKER_USER, isText);
  const kubernetesUser = firstOf(desc, KUBERNETES_USER, isText);
  const variables = findVariables(desc);

  const single = [name, alias, pullPolicy, dockerUser, kubernetesUser].filter((found) => found !== undefined);
  const wanted: readonly Wanted[] = [
    ...single.map(({ fields }) => ({ fields, itemsMax: LIST_LENGTH_MAX + 1 })),
    ...(variables === undefined ? [] : [variables.wanted]),
  ];
  return { read: readService, wanted };

  function readService(service: MessageObject, problems: string[]): ServiceRequest | undefined {
    const textAt = (found: ResolvedPath | undefined): string | undefined =>
      found && text(found.get(service), `${path}.${found.path}`, problems);
    const read = {
      name: textAt(name),
      alias: label(alias?.get(service)),
      pullPolicies: pullPolicy && policies(pullPolicy, service, problems),
      dockerUser: textAt(dockerUser),
      kubernetesUser: textAt(kubernetesUser),
      variables: variables && readServiceVariables(variables, service),
    };
    if (read.name === undefined) return undefined;
    // What is not there is left out, as everywhere in a request.
    return Object.fromEntries(
      Object.entries(read).filter(([, value]) => value !== undefined),
    ) as unknown as ServiceRequest;
  }

  function policies(
    found: ResolvedPath,
    service: MessageObject,
    problems: string[],
  ): readonly string[] | undefined {
    const at = `${path}.${found.path}`;
    return list(found.get(service), at, problems, (entry) => text(entry, at, problems));
  }
}

/** The first of these paths that the schema has, with a type that fits. */
function firstOf(
  desc: DescMessage,
  paths: readonly string[],
  fits: (field: DescField) => boolean,
): ResolvedPath | undefined {
  for (const path of paths) {
    const found = resolvePath(desc, path);
    if (found !== undefined && fits(found.leaf)) return found;
  }
  return undefined;
}
