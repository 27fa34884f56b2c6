import { beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import type { ControllerState } from '../../../functions/core/gitlab/controller.ts';
import { GitLabError } from '../../../functions/core/gitlab/gitlab.ts';
import { MemoryNotifier, NotifyError } from '../../../functions/core/notify/message.ts';
import { SILENT_MS, type YetFailedMark } from '../../../functions/core/store/health-items.ts';
import { LedgerError } from '../../../functions/core/store/table-failure.ts';
import { PAGE_EVERY_MS, type WatchdogState, watch } from '../../../functions/watchdog/watch.ts';

const START_MS = Date.UTC(2026, 10, 21, 9, 0, 0);
const MINUTE_MS = 60_000;

/** A site with one relay, GitLab, the table and somebody on call. */
class Site {
  nowMs = START_MS;
  beatAtMs: number | undefined = undefined;
  mark: WatchdogState | undefined = undefined;
  markWrites = 0;
  state: ControllerState = 'enabled';
  disarmed = 0;
  gitlab: 'answers' | 'unavailable' | 'refuses_change' = 'answers';
  pager: 'works' | 'broken' = 'works';
  token: 'accepted' | 'refused' = 'accepted';
  table: 'answers' | 'silent' = 'answers';
  failed: YetFailedMark | undefined = undefined;
  readonly notify = new MemoryNotifier();

  look = () =>
    watch({
      table: {
        newestHeartbeatMs: async () => {
          if (this.table === 'silent') throw new LedgerError('ledger_unavailable', 'throttled');
          return this.beatAtMs;
        },
        latestYetFailed: async () => this.failed,
        readMark: async () => this.mark,
        writeMark: async (mark) => {
          this.markWrites += 1;
          this.mark = mark;
        },
      },
      controller: {
        state: async () => {
          if (this.gitlab === 'unavailable') throw new GitLabError('gitlab_unavailable', 'silent');
          return this.state;
        },
        disarm: async () => {
          if (this.gitlab !== 'answers') throw new GitLabError('gitlab_refused', '403');
          this.state = 'dry_run';
          this.disarmed += 1;
        },
      },
      proveToken: async () => this.token,
      notify: {
        send: async (message) => {
          if (this.pager === 'broken') throw new NotifyError('notify_unavailable', 'no topic');
          await this.notify.send(message);
        },
      },
      clock: { nowMs: () => this.nowMs },
      log: silentLog,
      instance: 'gitlab.example.com',
    });

  /** A relay that beats and is seen, and then is gone for `silentMs`. */
  async heardThenSilent(silentMs: number): Promise<void> {
    this.beatAtMs = this.nowMs;
    expect(await this.look()).toBe('relay_heard');
    this.nowMs += silentMs;
  }

  pages = (): readonly string[] => this.notify.sent.map(({ json }) => JSON.parse(json).what);
}

let site: Site;
beforeEach(() => {
  site = new Site();
});

/** One look a minute. @returns the outcomes, each once in a row */
async function looks(minutes: number, before: () => void = () => {}): Promise<readonly string[]> {
  const outcomes: string[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    before();
    const outcome = await site.look();
    if (outcomes.at(-1) !== outcome) outcomes.push(outcome);
    site.nowMs += MINUTE_MS;
  }
  return outcomes;
}
const beats = (): void => {
  site.beatAtMs = site.nowMs;
};

test('on a first deployment nothing is done before a relay was ever heard, armed or not', async () => {
  expect(await looks(60)).toEqual(['never_heard']);
  expect(site).toMatchObject({ state: 'enabled', disarmed: 0, markWrites: 0 });
  expect(site.pages()).toEqual([]);
});

test.each([
  [SILENT_MS, 'relay_heard', 'enabled'],
  [SILENT_MS + 1, 'disarmed', 'dry_run'],
])('%i ms without a heartbeat: %s', async (silentMs, outcome, state) => {
  await site.heardThenSilent(silentMs);
  expect([await site.look(), site.state]).toEqual([outcome, state]);
});

test('whoever is on call is told once that it was disarmed, since when, and how to arm again; it never arms', async () => {
  await site.heardThenSilent(3 * MINUTE_MS);
  expect(await looks(60)).toEqual(['disarmed', 'not_armed']);
  expect([site.pages(), site.disarmed]).toEqual([['disarmed'], 1]);
  expect(site.notify.sent[0]?.text).toContain('3 min, the last at 2026-11-21T09:00:00.000Z');
  expect(site.notify.sent[0]?.text).toContain('--state enabled');
  expect(await looks(60, beats)).toEqual(['relay_heard']);
  expect(site.state).toBe('dry_run');
});

test('armed by hand while there is still no relay: said every 15 min, not undone', async () => {
  await site.heardThenSilent(SILENT_MS + 1);
  await site.look();
  site.state = 'enabled';
  site.nowMs += MINUTE_MS;
  expect(await looks((2 * PAGE_EVERY_MS) / MINUTE_MS)).toEqual(['armed_without_relay']);
  expect(site).toMatchObject({ state: 'enabled', disarmed: 1 });
  expect(site.pages()).toEqual(['disarmed', 'armed_without_relay', 'armed_without_relay']);
});

test('armed by hand with a relay, the next silence is a new one: disarmed and told again', async () => {
  await site.heardThenSilent(SILENT_MS + 1);
  await site.look();
  site.nowMs += MINUTE_MS;
  await site.heardThenSilent(SILENT_MS + 1);
  site.state = 'enabled';
  expect(await site.look()).toBe('disarmed');
  expect(site.pages()).toEqual(['disarmed', 'disarmed']);
});

test.each(['unavailable', 'refuses_change'] as const)(
  'GitLab that %s: nothing is changed, people are told every 15 min, and it is disarmed when GitLab is back',
  async (gitlab) => {
    await site.heardThenSilent(SILENT_MS + 1);
    site.gitlab = gitlab;
    expect(await looks((2 * PAGE_EVERY_MS) / MINUTE_MS)).toEqual(['gitlab_unreachable']);
    expect(site).toMatchObject({ state: 'enabled', disarmed: 0 });
    expect(site.pages()).toEqual(['gitlab_unreachable', 'gitlab_unreachable']);
    site.gitlab = 'answers';
    expect(await site.look()).toBe('disarmed');
    expect(site.pages().at(-1)).toBe('disarmed');
  },
);

test('a page that was not taken over fails the run once it is disarmed, and is sent by a later look', async () => {
  await site.heardThenSilent(SILENT_MS + 1);
  site.pager = 'broken';
  await expect(site.look()).rejects.toThrow('no topic');
  expect(site.state).toBe('dry_run');
  site.pager = 'works';
  await looks(2);
  expect(site.pages()).toEqual(['disarmed']);
});

test('a table that does not answer is no silence: nothing is done', async () => {
  await site.heardThenSilent(SILENT_MS + 1);
  site.table = 'silent';
  await expect(site.look()).rejects.toThrow('[ledger_unavailable]');
  expect(site.state).toBe('enabled');
});

test('a token that GitLab refuses is told while relays are well, not on the day it is needed', async () => {
  site.token = 'refused';
  beats();
  expect(await site.look()).toBe('token_refused');
  expect(site.mark).toEqual({ heardAtMs: START_MS });
  site.token = 'accepted';
  expect(await site.look()).toBe('relay_heard');
});

describe('a job that was admitted and that GitLab failed all the same', () => {
  /** A minute later, with a relay that beats. */
  const minuteLater = async () => {
    site.nowMs += MINUTE_MS;
    site.beatAtMs = site.nowMs;
    return site.look();
  };
  beforeEach(async () => {
    expect(await minuteLater()).toBe('relay_heard');
    site.failed = { jobId: 4711, atMs: site.nowMs };
  });

  test('disarms once, and whoever is on call hears which job and how to arm again', async () => {
    expect(await minuteLater()).toBe('disarmed_for_job');
    expect(site).toMatchObject({ state: 'dry_run', disarmed: 1 });
    for (let minute = 0; minute < 30; minute += 1) expect(await minuteLater()).toBe('relay_heard');
    expect(site.pages()).toEqual(['disarmed_for_job']);
    expect(site.notify.sent[0]?.text).toContain('Job 4711');
    expect(site.notify.sent[0]?.text).toContain('--state enabled');
  });

  test('leaves a controller alone that somebody armed again, until the next such job', async () => {
    await minuteLater();
    site.state = 'enabled';
    expect(await minuteLater()).toBe('relay_heard');
    expect(site.state).toBe('enabled');
    site.failed = { jobId: 4712, atMs: site.nowMs };
    expect(await minuteLater()).toBe('disarmed_for_job');
    expect(site.disarmed).toBe(2);
  });

  test('of a time when nobody’s answer was followed disarms nobody later', async () => {
    site.state = 'dry_run';
    expect(await minuteLater()).toBe('relay_heard');
    site.state = 'enabled';
    expect(await minuteLater()).toBe('relay_heard');
    expect(site).toMatchObject({ state: 'enabled', disarmed: 0 });
  });

  test('of last month is no news to a watchdog that was just switched on', async () => {
    site.failed = { jobId: 4711, atMs: site.nowMs - 30 * 24 * 60 * MINUTE_MS };
    expect(await minuteLater()).toBe('relay_heard');
    expect(site.disarmed).toBe(0);
  });

  test('is acted on as soon as GitLab answers; a page that is not taken over fails the run and is sent again', async () => {
    site.gitlab = 'unavailable';
    expect(await minuteLater()).toBe('gitlab_unreachable');
    site.gitlab = 'answers';
    site.pager = 'broken';
    await expect(minuteLater()).rejects.toThrow('no topic');
    await expect(minuteLater()).rejects.toThrow('no topic');
    site.pager = 'works';
    expect(await minuteLater()).toBe('disarmed_for_job');
    expect(await minuteLater()).toBe('relay_heard');
    expect(site.notify.sent).toHaveLength(1);
    expect(site.disarmed).toBe(1);
  });
});
