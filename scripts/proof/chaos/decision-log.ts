/** What the relays wrote of their answers. */
import { isRecord } from '../../../policies/document/reading.ts';

export class DecisionLog {
  /** Answers by who gave them, and those of the fallback by what they said. */
  readonly counts = { ledger: 0, admitted: 0, rejected: 0, withheld: 0 };
  /** Who answered, and why, by job. */
  readonly byJob = new Map<number, string>();
  /** Jobs that the ledger admitted. */
  readonly byLedger = new Set<number>();
  /** Place of the relay that answered, by job. */
  readonly relayOf = new Map<number, number>();
  readonly lostJobs = new Set<number>();

  /** Takes a line of a relay. */
  readonly hear = (text: string, relay: number): void => {
    if (!text.startsWith('{') || text.startsWith('{"_aws"')) return;
    const line: unknown = JSON.parse(text);
    if (!isRecord(line)) return;
    if (line.message === 'decision') {
      this.#decision(line);
      this.relayOf.set(Number(line.jobId), relay);
    }
    if (line.message === 'fallback answers lost' && Array.isArray(line.jobIds))
      for (const jobId of line.jobIds) this.lostJobs.add(Number(jobId));
  };

  #decision({ jobId, via, cause, outcome, heard }: Readonly<Record<string, unknown>>): void {
    const { counts } = this;
    const unheard = heard === false ? ', not heard' : '';
    this.byJob.set(Number(jobId), `${outcome} by ${via}${cause === undefined ? '' : `, ${cause}`}${unheard}`);
    if (via === 'ledger' && outcome === 'admitted') this.byLedger.add(Number(jobId));
    if (via === 'ledger') counts.ledger += 1;
    else if (cause === 'schema_unproven') counts.withheld += 1;
    else if (outcome === 'admitted') counts.admitted += 1;
    else counts.rejected += 1;
  }
}
