import type { Page } from 'playwright-core';

/** One option of one choice of one form, on the page where the form was found first. */
export interface FormChoice {
  readonly path: string;
  /** Which of the page's forms, 0-based. */
  readonly form: number;
  readonly title: string;
  readonly select: string;
  readonly value: string;
  readonly text: string;
}

interface FoundForm {
  readonly index: number;
  readonly title: string;
  readonly selects: readonly {
    readonly name: string;
    readonly options: readonly (readonly [string, string])[];
  }[];
}

/** More than the console has in a small company; a link that leads ever further is a defect. */
const PAGES_MAX = 300;

/** Follows every link from the overview on. @returns the pages, and every option of every form, each form once */
export async function choicesOf(
  page: Page,
  origin: string,
): Promise<{ readonly pages: number; readonly forms: number; readonly choices: readonly FormChoice[] }> {
  const waiting = ['/'];
  const seen = new Set(waiting);
  const forms = new Set<string>();
  const choices: FormChoice[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.size > PAGES_MAX) throw new Error(`more than ${PAGES_MAX} pages, the last is ${path}`);
    const response = await page.goto(origin + path);
    if (response?.status() !== 200) throw new Error(`${path} answered ${response?.status()}`);
    for (const href of await page.evaluate<string[]>(LINKS)) {
      // A saved file is no page; what is sorted or paged is the same page.
      if (/\.csv|^\/assets/.test(href) || seen.has(href)) continue;
      seen.add(href);
      waiting.push(href);
    }
    for (const { index, title, selects } of await page.evaluate<FoundForm[]>(FORMS)) {
      const signature = JSON.stringify([title.replace(/ (for|of|to|in) .*$/, ''), selects]);
      if (forms.has(signature)) continue;
      forms.add(signature);
      for (const { name, options } of selects)
        for (const [value, text] of options)
          choices.push({ path, form: index, title, select: name, value, text });
    }
  }
  return { pages: seen.size, forms: forms.size, choices };
}

const LINKS = `[...document.querySelectorAll('a[href^="/"]')].map((link) => link.getAttribute('href'))`;

const FORMS = `[...document.forms].map((form, index) => ({
  index,
  title: document.querySelector('h1').textContent,
  selects: [...form.querySelectorAll('select')].map((select) => ({
    name: select.name,
    options: [...select.options].map(({ value, text }) => [value, text]),
  })),
})).filter(({ selects }) => selects.length > 0)`;

export interface Filling {
  /** Values of choices and of fields that may stay empty; required ones are filled in anyway. */
  readonly values: Readonly<Record<string, string>>;
  /** What a date field gets, `2026-11-25`. */
  readonly day: string;
}

/** @returns undefined: it was accepted; else what stood in the way. */
export async function submitted(
  page: Page,
  origin: string,
  { path, form }: FormChoice,
  { values, day }: Filling,
): Promise<string | undefined> {
  await page.goto(origin + path);
  const held = await page.evaluate<string[]>(`(${FILL})(${form}, ${JSON.stringify({ values, day })})`);
  if (held.length > 0) return `the browser holds it back: ${held.join(', ')}`;
  const [response] = await Promise.all([
    page.waitForNavigation(),
    page.locator('form').nth(form).locator('button:not([type=button])').first().click(),
  ]);
  const status = response?.status() ?? 0;
  const alert = page.getByRole('alert');
  if (status < 400 && (await alert.count()) === 0) return undefined;
  return `${status}: ${(await alert.count()) > 0 ? await alert.first().textContent() : ''}`;
}

const FILL = `(index, { values, day }) => {
  const form = document.forms[index];
  for (const field of form.elements) {
    if (field.type === 'hidden' || field.type === 'submit') continue;
    if (Object.hasOwn(values, field.name)) field.value = values[field.name];
    else if (field.required && field.tagName !== 'SELECT' && field.value === '')
      field.value = field.type === 'date' ? day : field.tagName === 'TEXTAREA' ? 'Because' : field.name === 'by' ? '+8 %' : '20';
  }
  return [...form.elements].filter((field) => !field.checkValidity()).map(({ name }) => name);
}`;

/** Names of the fields that may stay empty, and of the other choices with their values. */
export async function rest(
  page: Page,
  origin: string,
  { path, form, select }: FormChoice,
): Promise<readonly Readonly<Record<string, string>>[]> {
  await page.goto(origin + path);
  return page.evaluate<Record<string, string>[]>(`[...document.forms[${form}].elements].flatMap((field) =>
    field.type === 'hidden' || field.type === 'submit' || field.required || field.name === '${select}' ? []
      : field.tagName === 'SELECT' ? [] : [{ [field.name]: '7' }]
  ).concat([...document.forms[${form}].querySelectorAll('select')].flatMap((other) =>
    other.name === '${select}' ? [] : [...other.options].map(({ value }) => ({ [other.name]: value }))))`);
}
