export const RUNBOOK_FILE = 'cdk/RUNBOOK.md';

/** As GitLab and GitHub make it of a heading. */
export const headingAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

export const runbookPlace = (heading: string, url: string | undefined): string =>
  `${url ?? RUNBOOK_FILE}#${headingAnchor(heading)}`;

/** For the dashboard's Markdown. No address means nothing to link to: the heading's name must do. */
export const runbookLink = (heading: string, url: string | undefined): string =>
  url === undefined ? `**${heading}**` : `[${heading}](${runbookPlace(heading, url)})`;
