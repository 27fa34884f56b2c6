import type { LimitRow } from '../../../answers/status/model.ts';
import type { Field } from '../parts/form-field.tsx';
import { limitWords } from '../parts/limit-words.ts';
import { type EditForm, type EditFormContext, MODES_SHOWN, WHY } from './edit-form-parts.ts';

/** @param zone - the calendar its days are meant on */
export const grantFormFields = (limits: readonly LimitRow[], zone: string): readonly Field[] => [
  {
    name: 'limit',
    label: 'On which limit',
    required: true,
    options: limits
      .filter(({ amount }) => amount !== 'unlimited')
      .map((limit) => [limit.id, `${limitWords(limit)} (${limit.id})`] as const),
  },
  {
    name: 'amount',
    label: 'Increase',
    required: true,
    short: true,
    hint: 'On top of the limit and in its unit: currency, minutes, jobs, CPUs or memory such as 8Gi.',
  },
  { name: 'from', label: 'From', type: 'date', required: true, short: true },
  {
    name: 'until',
    label: 'Until',
    type: 'date',
    required: true,
    short: true,
    hint: lastDayHint(limits, zone),
  },
  { name: 'reason', label: 'Reason', type: 'textarea', required: true, max: 500 },
  { name: 'ticket', label: 'Ticket', short: true },
];

/** A grant's days are its limit's: one zone where all limits agree. */
function lastDayHint(limits: readonly LimitRow[], zone: string): string {
  const zones = new Set(limits.filter(({ amount }) => amount !== 'unlimited').map((limit) => limit.zone));
  return zones.size > 1
    ? 'The last day it counts, in the zone of the limit.'
    : `The last day it counts, ${zones.values().next().value ?? zone}.`;
}

export const grantForm = ({ view, limit, today }: EditFormContext): EditForm => ({
  title: `Grant more to ${view?.path ?? ''}`,
  fields: grantFormFields(view?.limits ?? [], view?.zone ?? 'UTC'),
  values: { limit: limit?.id ?? view?.burnUp?.limit ?? '', from: today },
  submit: 'See what it does',
});

export const breakGlassForm = ({ view }: EditFormContext): EditForm => ({
  title: `Break glass for ${view?.path ?? ''}`,
  fields: [
    {
      name: 'users',
      label: 'Jobs of',
      hint: [
        'GitLab’s user ids, apart by commas: each stands on its user’s profile, in the menu at the top right.',
        'Empty: all users, but protected refs only.',
      ].join(' '),
      autofocus: true,
    },
    {
      name: 'protected',
      label: 'Which refs',
      required: true,
      options: [
        ['', 'any ref of these people'],
        ['yes', 'protected refs only'],
      ],
    },
    { name: 'jobs', label: 'At most (jobs)', type: 'number', required: true, short: true },
    {
      name: 'per',
      label: 'Per',
      required: true,
      options: [
        ['once', 'all in all'],
        ['hour', 'hour'],
        ['day', 'day'],
      ],
    },
    {
      name: 'until',
      label: 'Until',
      required: true,
      type: 'date',
      short: true,
      hint: `The last day, ${view?.zone ?? 'UTC'}; at most seven days from now.`,
    },
    {
      name: 'reason',
      label: 'Reason',
      type: 'textarea',
      required: true,
      max: 200,
      hint: [
        'These jobs pass limits and freezes, never security rules.',
        'They are still charged, the owners are notified, and the use is reviewed.',
      ].join(' '),
    },
    { name: 'ticket', label: 'Ticket', short: true },
  ],
  values: { jobs: '10', per: 'once' },
  submit: 'See what it does',
});

export function rolloutForm({ view }: EditFormContext): EditForm {
  const options = [['', 'as the group above says'], ...MODES_SHOWN] as const;
  return {
    title: `Roll out rules in ${view?.path ?? ''}`,
    fields: [
      {
        name: 'cost',
        label: 'Cost rules go as far as',
        required: true,
        options,
        hint: 'Budgets of money and minutes.',
      },
      {
        name: 'capacity',
        label: 'Capacity rules go as far as',
        required: true,
        options,
        hint: 'Concurrent jobs, CPU and memory.',
      },
      WHY,
    ],
    values: { cost: view?.rollout?.cost ?? '', capacity: view?.rollout?.capacity ?? '' },
    submit: 'See what it does',
  };
}
