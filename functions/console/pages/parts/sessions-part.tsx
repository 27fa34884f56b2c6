import type { OwnSessionRow, User } from '../../../core/signin/index.ts';
import { Card, PostForm, Table } from './layout.tsx';
import type { Markup } from './markup.ts';
import { distance } from './page-format.tsx';

/** A user's sessions, each with a button to end it. @param all - undefined: unknown now */
export function sessionsPart(
  user: User,
  all: readonly OwnSessionRow[] | undefined,
  nowMs: number,
): Markup | '' {
  if (all === undefined || all.length === 0) return '';
  const others = all.filter(({ isThis }) => !isThis);
  return (
    <Card id="sessions" title="Sessions">
      <Table label="Sessions" columns={['Where', 'Signed in', 'Last seen', [<span class="hidden">Do</span>]]}>
        <tbody>{all.map((session) => line(user, session, nowMs))}</tbody>
      </Table>
      {others.length > 1 && (
        <PostForm user={user} class="actions" action="/me/sessions">
          <button class="danger" name="step" value="others">
            Sign out everywhere else
          </button>
        </PostForm>
      )}
      <p class="soft">
        Sign out a session that you do not know, and change your password in GitLab. Each session ends after
        ten hours.
      </p>
    </Card>
  );
}

function line(user: User, session: OwnSessionRow, nowMs: number): Markup {
  const { handle, isTerminal, isThis, beganAgoMs, seenAgoMs } = session;
  const began = distance(nowMs - beganAgoMs, nowMs);
  return (
    <tr>
      <th scope="row">
        {isTerminal ? 'A terminal' : 'A browser'} {isThis && <span class="tag good">this one</span>}
      </th>
      <td data-l="signed in">{began}</td>
      <td data-l="seen">{distance(nowMs - seenAgoMs, nowMs)}</td>
      <td>
        {!isThis && (
          <PostForm user={user} action="/me/sessions">
            <input type="hidden" name="handle" value={handle} />
            <button>
              Sign out<span class="hidden"> the one of {began}</span>
            </button>
          </PostForm>
        )}
      </td>
    </tr>
  );
}
