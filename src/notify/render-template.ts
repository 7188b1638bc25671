/** Renders messages with templates of users, in Liquid (https://liquidjs.com), which access only the given values. Imported only if a target has one. */
import type { Origins } from '../core/model/image-origin.ts';
import { formatSubject, type Notice } from '../core/model/notice.ts';
import type { MessageTemplate } from '../core/model/notification-target.ts';
import { severityOf } from '../core/model/severity.ts';
import { looks } from './looks.ts';
import { createBoundedRenderer } from './template-budget.ts';

/** The texts of one message. The title is plain text. In `text`, inserted values are escaped, and the markup of the template is kept. */
export interface RenderedMessage {
  readonly title?: string;
  readonly text?: (escape: (value: string) => string) => string;
}

/** Renders the title, and prepares the text. Both share one budget of work. Throws with the line of the template if it fails. */
export function renderTemplate({ title, text }: MessageTemplate, notice: Notice, origins: Origins): RenderedMessage {
  const values = valuesOf(notice, origins);
  const { render } = createBoundedRenderer();
  return {
    ...(title !== undefined && { title: render(title, values, (value) => value) }),
    ...(text !== undefined && { text: (escape) => render(text, values, escape) }),
  };
}

/** The values that docs/notifications.md lists. */
function valuesOf(notice: Notice, { now, before }: Origins): object {
  const {
    kind,
    subject,
    tag,
    digest,
    base,
    images,
    from = [],
    alongside = [],
    fixes = [],
    workloads = [],
    reason,
    message,
    nextStep,
  } = notice;
  return {
    event: kind,
    severity: severityOf[kind],
    icon: looks[severityOf[kind]].icon,
    kind: subject.kind,
    namespace: subject.namespace ?? '',
    name: subject.name,
    policy: formatSubject(subject),
    tag,
    digest,
    base,
    images,
    from,
    alongside,
    fixes,
    workloads,
    reason,
    message,
    nextStep,
    source: now?.repository,
    revision: now?.revision,
    version: now?.version,
    previousRevision: before?.revision,
  };
}
