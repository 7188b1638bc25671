/** Texts of messages by templates of users, in Liquid (https://liquidjs.com), which has no access to anything but the values it is given. Loaded only where a target has a template. */
import type { Origins } from '../core/model/image-origin.ts';
import { formatSubject, type Notice } from '../core/model/notice.ts';
import type { MessageTemplate } from '../core/model/notification-target.ts';
import { createBoundedRenderer } from './template-budget.ts';

/** The texts of one message. The title is plain text; `text` is escaped where values were put in, and otherwise the markup of the template. */
export interface RenderedMessage {
  readonly title?: string;
  readonly text?: (escape: (value: string) => string) => string;
}

/** Renders the title, and prepares the text: both share one budget of work. Throws with the line of the template where it fails. */
export function renderTemplate({ title, text }: MessageTemplate, notice: Notice, origins: Origins): RenderedMessage {
  const values = valuesOf(notice, origins);
  const { render } = createBoundedRenderer();
  return {
    ...(title !== undefined && { title: render(title, values, (value) => value) }),
    ...(text !== undefined && { text: (escape) => render(text, values, escape) }),
  };
}

/** What docs/notifications.md lists. */
function valuesOf({ kind, subject, tag, digest, from = [], workloads = [], reason, message }: Notice, { now, before }: Origins): object {
  return {
    event: kind,
    kind: subject.kind,
    namespace: subject.namespace ?? '',
    name: subject.name,
    policy: formatSubject(subject),
    tag,
    digest,
    from,
    workloads,
    reason,
    message,
    source: now?.repository,
    revision: now?.revision,
    version: now?.version,
    previousRevision: before?.revision,
  };
}
