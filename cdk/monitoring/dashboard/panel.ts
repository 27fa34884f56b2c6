/** The dashboard as data: nothing here loads the CDK. */

export interface GraphLine {
  /** Words of series.ts. */
  readonly formula: string;
  readonly label: string;
}

export interface Graph {
  readonly kind: 'graph';
  readonly title: string;
  /** Name of an alarm whose formula is shown as the first line, with its threshold. Its period is the graph's. */
  readonly alarm?: string;
  readonly lines?: readonly GraphLine[];
  /** Against the axis on the right. */
  readonly right?: readonly GraphLine[];
  readonly stacked?: boolean;
  /** @default the alarm's, else 5 */
  readonly periodMinutes?: number;
  /** Further values to compare with. */
  readonly marks?: readonly { readonly value: number; readonly label: string }[];
}

/** The ten rows with the most, from the relays' decision log: what has too many values for a metric. */
interface TopTen {
  readonly kind: 'top-ten';
  readonly title: string;
  readonly query: readonly string[];
}

interface Words {
  readonly kind: 'words';
  readonly title: string;
  readonly markdown: string;
}

export type Panel = Graph | TopTen | Words;

/** Panels side by side, below a line of text that says what the row is about and names its alarms. */
export interface Row {
  readonly title: string;
  readonly says: string;
  readonly panels: readonly Panel[];
}
