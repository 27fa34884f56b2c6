/** Over how many days a page counts, chosen from a few. */
interface DaysFormProps {
  /** The page, such as `/coverage`. */
  readonly action: string;
  /** The page is about this group only. */
  readonly group: number | undefined;
  readonly choices: readonly number[];
  readonly days: number;
}

export const DaysForm = ({ action, group, choices, days }: DaysFormProps) => (
  <form class="filters" method="get" action={action} data-at-once>
    {group !== undefined && <input type="hidden" name="group" value={group} />}
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
