/**
 * The answers about pipelines as GitLab documents them: which fields there are and of what kind. Values are ours.
 * @see https://docs.gitlab.com/api/pipelines/
 */

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
