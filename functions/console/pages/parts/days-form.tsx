/** Over how many days a page counts, chosen from a few. */
interface DaysFormProps {
  /** The page, such as `/coverage`. */
  readonly action: string;
  /** Filters of the page, by field name: `group`, `project`. */
  readonly only: Readonly<Record<string, number | undefined>>;
  readonly choices: readonly number[];
  readonly days: number;
}

export const DaysForm = ({ action, only, choices, days }: DaysFormProps) => (
  <form class="filters" method="get" action={action} data-at-once>
    {Object.entries(only).map(
      ([name, id]) => id !== undefined && <input type="hidden" name={name} value={id} />,
    )}
    <label>
      Days
      <select name="days">
        {choices.map((each) => (
          <option value={each} selected={each === days}>
            {each === 1 ? 'today' : `the last ${each}`}
          </option>
        ))}
      </select>
    </label>
    <button>Show</button>
  </form>
);
