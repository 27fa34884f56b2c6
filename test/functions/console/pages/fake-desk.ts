import type { LimitsDesk } from '../../../../functions/core/limits/create-limits-desk.ts';
import type {
  ApplyOutcome,
  LimitEdit,
  LimitRequest,
  LiveLimits,
  Preview,
} from '../../../../functions/core/limits/edit-model.ts';
import type { ChangeRow } from '../../../../functions/core/limits/limit-changes.ts';
import { NOW_MS } from './rows.ts';

export type FakeDesk = LimitsDesk & {
  set(): string;
  /** Amount of the one limit, in whole euros. */
  amount(): number;
  /** Somebody else saves something. */
  overtake(): void;
};

const EUR = 1_000_000;

/** One limit of 500, which people edit; as much of the desk's manners as pages must show. */
export function fakeDesk(requests: LimitRequest[] = [aRequest()]): FakeDesk {
  let edit = 42;
  let amount = 500;
  let seen = 0;
  const set = (): string => `s${edit}`;
  /** Amounts of sets that were live: what an edit of them started from. */
  const amounts = new Map([[set(), amount]]);
  const live = (): LiveLimits => ({
    pointer: { set: set(), edit, atMs: NOW_MS - 60_000 },
    change: { actor: 'fiona', why: 'Release week', source: 'page', atMs: NOW_MS - 60_000 },
    document: { limits: [{ on: { group: 101 }, money: amount, per: 'month' }] },
    // No page looks into it but the totals of an import.
    limits: { version: set(), bySubject: new Map(), rollouts: new Map(), personalDefault: [] },
  });
  const rowsOf = (edits: readonly LimitEdit[], was: number): readonly ChangeRow[] =>
    edits.flatMap((each): ChangeRow[] => {
      const row = {
        about: 'limit',
        subject: 'group/101',
        path: 'acme/payments',
        limit: 'money-month',
      } as const;
      if (each.kind === 'replace')
        return Array.from({ length: 120 }, (_, index) => ({
          ...row,
          subject: `group/${101 + index}`,
          path: `acme/team-${index}`,
          field: 'amount',
          from: 500 * EUR,
          to: 550 * EUR,
          unit: 'micros',
          effect: 'loosens',
        }));
      if (each.kind === 'set' && each.amount !== undefined)
        return [
          {
            ...row,
            field: 'amount',
            from: was * EUR,
            to: Number(each.amount) * EUR,
            unit: 'micros',
            effect: Number(each.amount) > was ? 'loosens' : 'tightens',
          },
        ];
      if (each.kind === 'freeze')
        return [
          {
            ...row,
            about: 'freeze',
            limit: 'f9',
            field: 'reason',
            from: null,
            to: each.reason,
            effect: 'tightens',
            whole: 'added',
          },
        ];
      if (each.kind === 'grant')
        return [
          {
            ...row,
            about: 'grant',
            field: 'amount',
            from: null,
            to: Number(each.amount) * EUR,
            unit: 'micros',
            effect: 'loosens',
            whole: 'added',
          },
        ];
      if (each.kind === 'review-breakglass')
        return [
          {
            ...row,
            about: 'breakglass',
            limit: each.breakglass,
            field: 'note',
            from: null,
            to: each.note,
            effect: 'neutral',
          },
        ];
      return [];
    });
  const problemsOf = (edits: readonly LimitEdit[]) =>
    edits.flatMap((each) =>
      each.kind === 'set' && each.amount !== undefined && Number.isNaN(Number(each.amount))
        ? [
            {
              path: ['limits', 0, 'money'],
              message: `'${each.amount}' is no amount; expected a number such as 500 or 500.25`,
            },
          ]
        : [],
    );
  const preview = (edits: readonly LimitEdit[], base: string | undefined): Preview => {
    const problems = problemsOf(edits);
    if (problems.length > 0) return { outcome: 'invalid', problems };
    const rows = rowsOf(edits, amounts.get(base ?? '') ?? amount);
    return {
      outcome: 'valid',
      stale: base !== set(),
      document: {},
      limits: live().limits,
      rows,
      oversubscription: rows.some(({ effect }) => effect === 'loosens')
        ? [
            {
              subject: 'group/100',
              path: 'acme',
              limit: 'money-month',
              unit: 'micros',
              amount: 9_000 * EUR,
              childrenAmount: 9_300 * EUR,
              children: 14,
              unlimited: 0,
              larger: [],
            },
          ]
        : [],
      needsConfirmation: rows.filter(
        ({ from, to }) => typeof from === 'number' && typeof to === 'number' && to > 3 * from,
      ),
      needsApproval: [],
      lockout: [],
    };
  };
  return {
    set,
    amount: () => amount,
    overtake: () => {
      edit += 1;
      amount = 450;
      amounts.set(set(), amount);
    },
    live: async () => live(),
    at: async () => ({ document: live().document, limits: live().limits }),
    preview: async (edits, base) => preview(edits, base),
    async apply(edits, by): Promise<ApplyOutcome> {
      const checked = preview(edits, by.base);
      if (checked.outcome === 'invalid') return checked;
      const [first] = checked.rows;
      const strong = by.rights.some(({ role }) => role === 'finance' || role === 'admin');
      if (first !== undefined && !strong && checked.rows.some(({ effect }) => effect === 'loosens'))
        return { outcome: 'forbidden', denied: [{ row: first, act: 'loosen', needs: ['finance', 'admin'] }] };
      if (checked.stale)
        return {
          outcome: 'stale',
          live: live(),
          mine: checked.rows,
          theirs: [
            {
              about: 'limit',
              subject: 'group/101',
              path: 'acme/payments',
              limit: 'money-month',
              field: 'amount',
              from: 500 * EUR,
              to: amount * EUR,
              unit: 'micros',
              effect: 'tightens',
            },
          ],
        };
      if (checked.needsConfirmation.length > 0 && by.confirmed !== true)
        return { outcome: 'needs_confirmation', rows: checked.needsConfirmation, lockout: [] };
      edit += 1;
      const [each] = edits;
      if (each?.kind === 'set') amount = Number(each.amount);
      amounts.set(set(), amount);
      return { outcome: 'live', pointer: { set: set(), edit, atMs: NOW_MS }, rows: checked.rows };
    },
    history: async () => ({ entries: [] }),
    edit: async () => undefined,
    async request(asked, by) {
      seen += 1;
      const request: LimitRequest = {
        ...asked,
        id: `new${seen}`,
        state: 'pending',
        requestedBy: by.actor,
        requestedAtMs: NOW_MS,
        granted: false,
        expiresAtMs: NOW_MS + 30 * 86_400_000,
      };
      requests.unshift(request);
      return { outcome: 'filed', request };
    },
    requested: async () => undefined,
    requests: async () => requests,
    async decide(id, verdict, by) {
      const index = requests.findIndex((each) => each.id === id);
      const request = requests[index];
      if (request === undefined) return { outcome: 'unknown' };
      if (request.requestedBy === by.actor)
        return { outcome: 'forbidden', act: 'approve', needs: ['finance'], own: true };
      const approved = verdict.verdict === 'approve';
      const decided: LimitRequest = {
        ...request,
        state: approved ? 'approved' : 'declined',
        decidedBy: by.actor,
        decidedAtMs: NOW_MS,
        granted: approved,
      };
      requests[index] = decided;
      return approved
        ? { outcome: 'approved', request: decided, pointer: live().pointer }
        : { outcome: 'declined', request: decided };
    },
    breakGlasses: async () => [],
  };
}

const aRequest = (): LimitRequest => ({
  id: 'r1',
  state: 'pending',
  subject: 'group/101',
  limit: 'money-month',
  amount: '+200',
  from: '2026-11-21',
  until: '2026-11-30',
  reason: 'The release needs the full matrix of end-to-end tests',
  ticket: 'FIN-12',
  link: 'https://gitlab.example.com/acme/payments/gateway/-/jobs/4711',
  requestedBy: 'dev',
  requestedAtMs: NOW_MS - 7_200_000,
  granted: false,
  expiresAtMs: NOW_MS + 29 * 86_400_000,
});
