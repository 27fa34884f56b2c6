/**
 * Runners as GitLab documents them: fields and their kinds. Values are ours.
 *
 * @see https://docs.gitlab.com/api/runners/
 */

const listed = {
  ...{ active: true, paused: false, description: 'shared-runner-1', id: 1, ip_address: '' },
  ...{ is_shared: true, runner_type: 'instance_type', name: null, online: true, status: 'online' },
  job_execution_status: 'idle',
};

export const DOCUMENTED_LIST = [
  listed,
  { ...listed, id: 6, is_shared: false, runner_type: 'project_type', status: 'paused' },
  { ...listed, id: 8, is_shared: false, runner_type: 'group_type', online: false, status: 'offline' },
];

export const DOCUMENTED_RUNNER = {
  ...{ ...listed, id: 6, is_shared: false, runner_type: 'project_type', architecture: null },
  ...{ contacted_at: '2016-01-25T16:39:48.066Z', maintenance_note: null, platform: null },
  projects: [{ id: 1, name: 'Edition', path: 'edition', path_with_namespace: 'org/edition' }],
  ...{ revision: null, tag_list: ['ruby', 'mysql'], version: null },
  ...{ access_level: 'ref_protected', maximum_timeout: 3600 },
};

export const DOCUMENTED_MANAGERS = [
  {
    ...{ id: 1, system_id: 's_89e5e9956577', version: '16.11.1', revision: '535ced5f' },
    ...{ platform: 'linux', architecture: 'amd64', ip_address: '127.0.0.1' },
    ...{ created_at: '2024-06-09T11:12:02.507Z', contacted_at: '2024-06-09T06:30:09.355Z' },
    ...{ status: 'offline', job_execution_status: 'idle' },
  },
];

export const DOCUMENTED_CREATION = { id: 9171, token: 'glrt-not-a-token', token_expires_at: null };
