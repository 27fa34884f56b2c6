import { NO_PLATFORM, type Platform } from '../platform.ts';
import { withoutAbsent } from '../without-absent.ts';
import type { Reading } from './reading.ts';
import { readDurationSeconds } from './values.ts';

const SUBJECTS_MAX = 100;
const ENTRIES_MAX = 50;
/** Sources like these start deploys. */
const SOURCE = 'push';

/** Reads `platform`: who runs the controller, and what their deploy job looks like. */
export function readPlatform(reading: Reading): Platform {
  if (!reading.isThere || !reading.object(['groups', 'projects', 'job'])) return NO_PLATFORM;
  const ids = (key: string): readonly number[] =>
    reading
      .at(key)
      .list('ids', SUBJECTS_MAX)
      .flatMap((each) => each.integer("GitLab's id", 1) ?? []);
  const groups = ids('groups');
  const projects = ids('projects');
  if (groups.length + projects.length === 0)
    reading.refuse('names nobody; expected groups, projects or both');
  return { groups, projects, job: readJob(reading.at('job')) };
}

function readJob(reading: Reading): Platform['job'] {
  // GitLab always sends these fields, so that their absence would test nothing.
  const job = { pipelineSource: SOURCE, variables: {} };
  if (!reading.isThere || !reading.object(['image', 'services', 'tags', 'timeout', 'ref', 'protected']))
    return job;
  const image = reading.at('image').isThere ? reading.at('image').text('an image') : undefined;
  const texts = (key: string): readonly string[] | undefined =>
    reading.at(key).isThere
      ? reading
          .at(key)
          .list('texts', ENTRIES_MAX)
          .flatMap((each) => each.text('a text') ?? [])
      : undefined;
  const services = texts('services');
  const tags = texts('tags');
  const ref = reading.at('ref').isThere ? reading.at('ref').text('a branch or tag') : undefined;
  const isProtected = reading.at('protected').isThere ? reading.at('protected').boolean() : undefined;
  const timeoutSeconds = readTimeout(reading.at('timeout'));
  return {
    ...job,
    ...(image !== undefined && { image }),
    ...(services !== undefined && { services: services.map((name) => ({ name })) }),
    ...(tags !== undefined && { jobTags: tags, runnerTags: tags }),
    ...withoutAbsent({ ref, refProtected: isProtected, timeoutSeconds }),
  };
}

function readTimeout(reading: Reading): number | undefined {
  if (!reading.isThere) return undefined;
  const seconds = typeof reading.value === 'string' ? readDurationSeconds(reading.value) : undefined;
  return seconds ?? reading.expected('a duration such as 30m or 2h');
}
