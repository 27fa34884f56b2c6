import type { LocalManager, LocalRunner } from './job.ts';
import { isoText } from './times.ts';

/** An entry of the lists of runners, and a job's `runner`: it tells neither tags nor versions. */
export const runnerEntity = (runner: LocalRunner): object => ({
  id: runner.id,
  description: runner.description ?? `runner-${runner.id}`,
  ip_address: '',
  active: runner.paused !== true,
  paused: runner.paused === true,
  is_shared: (runner.type ?? 'instance_type') === 'instance_type',
  runner_type: runner.type ?? 'instance_type',
  name: 'gitlab-runner',
  online: (runner.status ?? 'online') === 'online',
  // Versions before 20.0 say `paused` instead of `online` and `offline`.
  status: runner.paused === true ? 'paused' : (runner.status ?? 'online'),
  job_execution_status: 'idle',
});

/** `GET /runners/:id`: version and platform are those of the manager that was heard last. */
export function runnerDetailEntity(runner: LocalRunner): object {
  const { type = 'instance_type', tags = [], managers = [], ownerId, createdBy = null } = runner;
  const latest = managers.toSorted((a, b) => (b.contactedAtMs ?? 0) - (a.contactedAtMs ?? 0))[0];
  const owner = ownerId === undefined ? [] : [{ id: ownerId, name: `owner ${ownerId}` }];
  return {
    ...runnerEntity(runner),
    tag_list: tags,
    run_untagged: runner.runUntagged ?? tags.length === 0,
    locked: false,
    maximum_timeout: runner.maximumTimeoutSeconds ?? null,
    access_level: 'not_protected',
    version: latest?.version ?? null,
    revision: null,
    platform: latest === undefined ? null : (latest.platform ?? 'linux'),
    architecture: latest === undefined ? null : (latest.architecture ?? 'amd64'),
    contacted_at: isoText(latest?.contactedAtMs),
    maintenance_note: runner.maintenanceNote ?? null,
    created_by: createdBy === null ? null : { id: createdBy, username: `user${createdBy}` },
    ...(type === 'group_type' && { groups: owner }),
    projects: type === 'project_type' ? owner : [],
  };
}

/** An entry of `GET /runners/:id/managers`. */
export const managerEntity = (manager: LocalManager, at: number): object => ({
  id: at + 1,
  system_id: manager.systemId,
  version: manager.version,
  revision: '91a27b2a',
  platform: manager.platform ?? 'linux',
  architecture: manager.architecture ?? 'amd64',
  created_at: isoText(manager.contactedAtMs),
  contacted_at: isoText(manager.contactedAtMs),
  ip_address: '127.0.0.1',
  status: manager.status ?? 'online',
  job_execution_status: 'idle',
});
