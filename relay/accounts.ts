/**
 * Every question of the router is in one of these places, and in one only: still open, decided by the ledger, answered by the
 * fallback and told to the function, written into the journal, waiting for either, or lost and declared so. What is in none, or
 * in two, is a fault of ours that no other figure shows.
 */
import type { RelayEvent } from './events.ts';
import type { AnswerQuestion, RelayClock } from './exchange.ts';

/** The longest a question may be open: the router gives it up within 20 s, and a stream is cut after 30. */
const OPEN_MS_MAX = 60_000;

/** Where the questions of a relay's whole life are. */
interface QuestionPlaces {
  readonly asked: number;
  /** Answers of an earlier relay that this one found in its spool. */
  readonly restored: number;
  /** Asked, and not ended yet. */
  readonly open: number;
  readonly ledger: number;
  /** Fallback answers that are in no books and need not be: nobody heard them, or they name no job. */
  readonly unbooked: number;
  readonly told: number;
  readonly journaled: number;
  readonly waiting: number;
  readonly lost: number;
}

export class QuestionAccounts {
  readonly #clock: Pick<RelayClock, 'monotonicMs'>;
  /** When each open question came; oldest first. */
  readonly #open = new Set<{ readonly arrivedAtMs: number }>();
  readonly #sums = {
    asked: 0,
    restored: 0,
    ledger: 0,
    unbooked: 0,
    told: 0,
    journaled: 0,
    waiting: 0,
    lost: 0,
  };

  constructor(clock: Pick<RelayClock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** The same way of answering, whose questions are known to be open until their streams end. */
  watched(answer: AnswerQuestion): AnswerQuestion {
    return async (question) => {
      const place = { arrivedAtMs: question.arrivedAtMs };
      this.#open.add(place);
      const given = await answer(question);
      return {
        answer: given.answer,
        delivered: (...ended) => {
          this.#open.delete(place);
          given.delivered(...ended);
        },
      };
    };
  }

  note(event: RelayEvent): void {
    const sums = this.#sums;
    switch (event.type) {
      case 'question':
        sums.asked += 1;
        return;
      case 'answered':
        if (event.via === 'ledger' && !isUnwritten(event)) sums.ledger += 1;
        else if (!event.heard || event.request === undefined) sums.unbooked += 1;
        return;
      case 'unmetered':
        sums.told += event.posted;
        sums.journaled += event.journaled ?? 0;
        sums.restored += event.restored ?? 0;
        sums.lost += event.dropped;
        sums.waiting = event.queued;
        return;
    }
  }

  get places(): QuestionPlaces {
    return { ...this.#sums, open: this.#open.size };
  }

  /** How many questions are in no place, in two, or open for longer than any can be. */
  get unaccounted(): number {
    const { asked, restored, open, ledger, unbooked, told, journaled, waiting, lost } = this.places;
    const known = open + ledger + unbooked + told + journaled + waiting + lost;
    return Math.abs(asked + restored - known) + this.#overdue();
  }

  #overdue(): number {
    const before = this.#clock.monotonicMs() - OPEN_MS_MAX;
    let overdue = 0;
    for (const { arrivedAtMs } of this.#open) {
      if (arrivedAtMs >= before) break;
      overdue += 1;
    }
    return overdue;
  }
}

/** The ledger decided and could not write it down: the relay keeps it like an answer of its own. */
const isUnwritten = ({ decision }: Extract<RelayEvent, { type: 'answered' }>): boolean =>
  decision?.outcome === 'rejected' && decision.unwritten === true;
