import { importDockerUsers, importKubernetesUsers, importPullPolicies } from './import-containers.ts';
import { importImages, importServices, importVmImages } from './import-images.ts';
import { importClass, importOverwrites, importResources } from './import-pods.ts';
import type { ContainerSection, ImportedPart } from './imported-part.ts';
import type { ImportedRunner, ImportNote } from './imported-rule.ts';
import type { RunnerSection } from './runner-config.ts';
import { runnerOnly } from './runner-only.ts';

/** Sections with container settings, by executor. */
const PARTS: ReadonlyMap<string, ContainerSection> = new Map([
  ['docker', 'docker'],
  ['docker-windows', 'docker'],
  ['docker+machine', 'docker'],
  ['docker-autoscaler', 'docker'],
  ['kubernetes', 'kubernetes'],
]);

/**
 * Converts a runner to rules, and lists settings without a rule.
 *
 * @param runnerId - if the file has none.
 * @param isShared - other sections of the file are the same runner in GitLab.
 */
export function importRunner(
  section: RunnerSection,
  runnerId = section.id,
  isShared = false,
): ImportedRunner {
  const { name, line, executor } = section;
  const part = PARTS.get(executor);
  const parts: readonly ImportedPart[] =
    part === undefined
      ? [importVmImages(section)]
      : part === 'docker'
        ? [
            importImages(section, part),
            importServices(section, part),
            importPullPolicies(section, part),
            importDockerUsers(section),
          ]
        : [
            importImages(section, part),
            importServices(section, part),
            importPullPolicies(section, part),
            importKubernetesUsers(section),
            importOverwrites(section),
            importResources(section),
          ];
  const base = ['runner', runnerId, runnerId === undefined || isShared ? `line-${line}` : undefined]
    .filter((each) => each !== undefined)
    .join('-');
  return {
    name,
    line,
    executor,
    ...(runnerId !== undefined && { runnerId }),
    rules: parts.flatMap(({ rule }) => (rule === undefined ? [] : { id: `${base}-${rule.kind}`, ...rule })),
    class: importClass(section),
    notes: [
      ...(runnerId === undefined ? [notTold(section)] : []),
      ...(isShared ? [twice(section)] : []),
      ...parts.flatMap(({ notes = [] }) => notes),
      ...runnerOnly(section, part),
    ],
  };
}

const notTold = ({ line }: RunnerSection): ImportNote => ({
  code: 'runner_not_told',
  line,
  text: 'has no id, so the rules are off: name the runner with --runner-id, or match it by its tags',
});

const twice = ({ line }: RunnerSection): ImportNote => ({
  code: 'rule_stricter',
  line,
  text: 'its runner stands in the file more than once: a job does not know which section takes it, and has to pass the rules of all',
});
