import { expect, test } from 'vitest';
import {
  isFree,
  isOverdue,
  next,
  type StreamState,
  type StreamStep,
  wasAsked,
} from '../../../relay/streams/stream.ts';

const at = (name: StreamState['name']): StreamState => ({ name, sinceMs: 0 });

test.each<[StreamState['name'], StreamStep, StreamState['name'] | undefined, string]>([
  ['opening', 'accepted', 'waiting', 'an accepted stream waits'],
  ['opening', 'question', 'deciding', 'a question may overtake the news of the connection'],
  ['opening', 'answer', undefined, 'nothing is answered before it was asked'],
  ['waiting', 'accepted', undefined, 'a stream is accepted once'],
  ['waiting', 'question', 'deciding', 'a question is decided'],
  ['waiting', 'answer', undefined, 'a waiting stream has nothing to answer'],
  ['deciding', 'question', undefined, 'a second question on a used stream is ignored'],
  ['deciding', 'answer', 'answered', 'a decision is answered'],
  ['answered', 'question', undefined, 'an answered stream takes no question'],
  ['answered', 'answer', undefined, 'a question is answered once'],
  ['answered', 'taken', 'sent', 'the transport takes an answer'],
  ['deciding', 'taken', undefined, 'nothing is taken before it was given'],
  ['answered', 'end', 'ended', 'the router ends an answered stream'],
  ['sent', 'end', 'ended', 'also when it is slow to do so'],
  ['sent', 'question', undefined, 'an answered stream takes no question, sent or not'],
  ['ended', 'answer', undefined, 'an ended stream hears no answer'],
  ['ended', 'end', undefined, 'a stream ends once'],
])('%s, %s → %s: %s', (from, step, to) => {
  expect(next(at(from), step, 5)).toEqual(to === undefined ? undefined : { name: to, sinceMs: 5 });
});

test('only a stream that may still be asked is free', () => {
  const names = ['opening', 'waiting', 'deciding', 'answered', 'sent', 'ended'] as const;
  expect(names.filter((name) => isFree(at(name)))).toEqual(['opening', 'waiting']);
  expect(names.filter((name) => wasAsked(at(name)))).toEqual(['deciding', 'answered', 'sent']);
});

test('every state but waiting has a longest time, so no stream is held for ever', () => {
  const hourMs = 3_600_000;
  const names = ['opening', 'waiting', 'deciding', 'answered', 'sent'] as const;
  expect(names.filter((name) => isOverdue(at(name), hourMs))).toEqual([
    'opening',
    'deciding',
    'answered',
    'sent',
  ]);
  expect(isOverdue(at('answered'), 10_000)).toBe(false);
  expect(isOverdue(at('answered'), 10_001)).toBe(true);
});
