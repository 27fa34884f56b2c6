/** Rules about the images of jobs and their services, as a Runner's lists have them. */
import { importedPatterns } from './image-patterns.ts';
import { type ContainerSection, type ImportedPart, unrestricted } from './imported-part.ts';
import type { ImportNote, RuleSource } from './imported-rule.ts';
import { type ConfigSetting, type RunnerSection, textOf, textsOf } from './runner-config.ts';

/** Executors without containers. One of them runs virtual machines, with a list of images. */
export function importVmImages({ executor, line, settings }: RunnerSection): ImportedPart {
  const setting = settings.get('instance.allowed_images');
  const patterns = textsOf(setting);
  const isIsolated = settings.get('autoscaler.vm_isolation.enabled')?.value === true;
  if (executor === 'instance' && isIsolated && setting !== undefined && patterns.length > 0) {
    const { allow, notes } = importedPatterns('allowed_images', setting, patterns, []);
    const from = [{ setting: 'allowed_images', line: setting.line, check: 'allow' }];
    return { rule: { kind: 'image', onMissing: 'admit', checks: { allow }, from }, notes };
  }
  const text =
    executor === ''
      ? 'names no executor'
      : `executor ${JSON.stringify(executor)} runs no containers of jobs: rules about images, users and pods say nothing about it`;
  return { notes: [{ code: 'not_seen', line, text }] };
}

/** Images that the Runner allows besides its lists. */
function internalImages(
  { settings, tables }: RunnerSection,
  part: ContainerSection,
  of: 'images' | 'services',
) {
  const own = ['image', ...(part === 'kubernetes' ? ['helper_image'] : [])];
  if (part === 'docker' && of === 'services')
    return (tables.get('docker.services') ?? []).flatMap(({ value }) => {
      const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined;
      return typeof name === 'string' ? [name] : [];
    });
  return own.flatMap((key) => textOf(settings.get(`${part}.${key}`)) ?? []);
}

export function importImages(section: RunnerSection, part: ContainerSection): ImportedPart {
  const setting = section.settings.get(`${part}.allowed_images`);
  const patterns = textsOf(setting);
  if (setting === undefined || patterns.length === 0)
    return { notes: [unrestricted(section, 'allowed_images', 'any image')] };
  const { allow, notes } = importedPatterns(
    'allowed_images',
    setting,
    patterns,
    internalImages(section, part, 'images'),
  );
  return {
    // A job without an image gets the Runner's own, which always passes.
    rule: {
      kind: 'image',
      onMissing: 'admit',
      checks: { allow },
      from: [{ setting: 'allowed_images', line: setting.line, check: 'allow' }],
    },
    notes: [...notes, ...helperNote(section, part, setting)],
  };
}

/** On Kubernetes the helper's image passes as well, and its name depends on the Runner's version. */
const helperNote = (
  { settings }: RunnerSection,
  part: ContainerSection,
  { line }: ConfigSetting,
): readonly ImportNote[] =>
  part === 'docker' || settings.has('kubernetes.helper_image')
    ? []
    : [
        {
          code: 'rule_stricter',
          line,
          text: 'the Runner takes its own helper image, too, whose name is not in the file: add it if jobs write it out',
        },
      ];

export function importServices(section: RunnerSection, part: ContainerSection): ImportedPart {
  const setting = section.settings.get(`${part}.allowed_services`);
  const patterns = textsOf(setting);
  const limit = part === 'docker' ? section.settings.get('docker.services_limit') : undefined;
  const own = section.tables.get(`${part}.services`)?.length ?? 0;
  const notes: ImportNote[] = [];
  const checks: Record<string, unknown> = {};
  const from: RuleSource[] = [];
  if (setting === undefined || patterns.length === 0)
    notes.push(unrestricted(section, 'allowed_services', 'any service'));
  else {
    const read = importedPatterns(
      'allowed_services',
      setting,
      patterns,
      internalImages(section, part, 'services'),
    );
    checks.allow = read.allow;
    notes.push(...read.notes);
    from.push({ setting: 'allowed_services', line: setting.line, check: 'allow' });
  }
  if (typeof limit?.value === 'number' && limit.value >= 0) {
    const left = limit.value - own;
    // The Runner counts its own services with the job's.
    checks.max = Math.min(100, Math.max(0, left));
    from.push({ setting: 'services_limit', line: limit.line, check: 'max' });
    if (left < 0)
      notes.push({
        code: 'rule_looser',
        line: limit.line,
        text: `services_limit is less than the ${own} services of the Runner itself: it fails every job, and no rule can`,
      });
  }
  return from.length === 0
    ? { notes }
    : { rule: { kind: 'services', onMissing: 'admit', checks, from }, notes };
}
