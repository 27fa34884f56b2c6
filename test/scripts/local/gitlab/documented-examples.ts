/**
 * Runners and pipelines as GitLab documents them: fields and their kinds. Values are ours.
 *
 * @see https://docs.gitlab.com/api/runners/
 * @see https://docs.gitlab.com/api/pipelines/
 */

const listed = {
  active: true,
  paused: false,
  description: 'shared-runner-1',
  id: 1,
  ip_address: '',
  is_shared: true,
  runner_type: 'instance_type',
  name: null,
  online: true,
  status: 'online',
  job_execution_status: 'idle',
};

export const DOCUMENTED_LIST = [
  listed,
  { ...listed, id: 6, is_shared: false, runner_type: 'project_type', status: 'paused' },
  { ...listed, id: 8, is_shared: false, runner_type: 'group_type', online: false, status: 'offline' },
];

export const DOCUMENTED_RUNNER = {
  ...listed,
  id: 6,
  is_shared: false,
  runner_type: 'project_type',
  architecture: null,
  contacted_at: '2016-01-25T16:39:48.066Z',
  maintenance_note: null,
  platform: null,
  projects: [{ id: 1, name: 'Edition', path: 'edition', path_with_namespace: 'org/edition' }],
  revision: null,
  tag_list: ['ruby', 'mysql'],
  version: null,
  access_level: 'ref_protected',
  maximum_timeout: 3600,
};

export const DOCUMENTED_MANAGERS = [
  {
    id: 1,
    system_id: 's_89e5e9956577',
    version: '16.11.1',
    revision: '535ced5f',
    platform: 'linux',
    architecture: 'amd64',
    created_at: '2024-06-09T11:12:02.507Z',
    contacted_at: '2024-06-09T06:30:09.355Z',
    ip_address: '127.0.0.1',
    status: 'offline',
    job_execution_status: 'idle',
  },
];

/** An entry of `GET /runners/:id/jobs`, without what nobody here reads of its user and commit. */
export const DOCUMENTED_JOB = {
  id: 2,
  status: 'running',
  stage: 'test',
  name: 'test',
  ref: 'main',
  tag: false,
  coverage: null,
  created_at: '2017-11-16T08:50:29.000Z',
  started_at: '2017-11-16T08:51:29.000Z',
  finished_at: '2017-11-16T08:53:29.000Z',
  duration: 120,
  queued_duration: 2,
  user: { id: 1, name: 'Jo', username: 'jo', state: 'active', web_url: 'http://localhost/jo' },
  commit: { id: '97de212e80737a608d939f648d959671fb0a0142', short_id: '97de212e', title: 'Update' },
  pipeline: { id: 2, sha: '97de212e80737a608d939f648d959671fb0a0142', ref: 'main', status: 'running' },
  project: {
    id: 1,
    description: null,
    name: 'project1',
    name_with_namespace: 'Jo / project1',
    path: 'project1',
    path_with_namespace: 'namespace1/project1',
    created_at: '2017-11-16T18:38:46.620Z',
  },
};

export const DOCUMENTED_CREATION = { id: 9171, token: 'glrt-not-a-token', token_expires_at: null };

const SHA = '97de212e80737a608d939f648d959671fb0a0142';

const common = {
  id: 61,
  iid: 21,
  project_id: 1,
  sha: SHA,
  ref: 'main',
  status: 'pending',
  web_url: 'https://gitlab.example.com/acme/shop/-/pipelines/61',
  created_at: '2026-11-04T09:36:13.747Z',
  updated_at: '2026-11-04T09:36:13.977Z',
};

export const DOCUMENTED_PIPELINES = [{ ...common, source: 'push', name: null }];

/** What starting one and canceling one answer. */
export const DOCUMENTED_PIPELINE = {
  ...common,
  before_sha: SHA,
  tag: false,
  yaml_errors: null,
  user: {
    id: 1,
    username: 'jo',
    name: 'Jo',
    state: 'active',
    avatar_url: null,
    web_url: 'https://gitlab.example.com/jo',
  },
  started_at: null,
  finished_at: null,
  committed_at: null,
  duration: null,
  queued_duration: 0.01,
  coverage: null,
};

/** Lists documented fields that are missing in an answer, or of another kind. */
export function keepsTo(documented: unknown, answered: unknown, path = ''): string[] {
  if (documented === null || answered === null) return [];
  if (Array.isArray(documented))
    return Array.isArray(answered)
      ? answered.flatMap((each) => keepsTo(documented[0], each, `${path}[]`))
      : [`${path} is no list`];
  if (typeof documented !== 'object')
    return typeof documented === typeof answered ? [] : [`${path} is a ${typeof answered}`];
  const fields = answered as Readonly<Record<string, unknown>>;
  return Object.entries(documented).flatMap(([name, value]) =>
    Object.hasOwn(fields, name)
      ? keepsTo(value, fields[name], `${path}.${name}`)
      : [`${path}.${name} is missing`],
  );
}
