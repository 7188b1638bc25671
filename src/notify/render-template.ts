/** Texts of messages by templates of users, in Liquid (https://liquidjs.com), which has no access to anything but the values it is given. Loaded only where a target has a template. */
import { Liquid } from 'liquidjs';
import type { Origins } from '../model/image-origin.ts';
import { formatSubject, type Notice } from '../model/notice.ts';
import type { MessageTemplate } from '../model/notification-target.ts';

/** The texts of one message. The title is plain text; `text` is escaped where values were put in, and otherwise the markup of the template. */
export interface RenderedMessage {
  readonly title?: string;
  readonly text?: (escape: (value: string) => string) => string;
}

/** A template that makes more is stopped: whoever may write a NotificationTarget writes templates. The time, in ms, is only reached by what escapes the other limits, or on a machine that stands still. */
const limits = { parseLimit: 10_000, renderLimit: 1_000, memoryLimit: 200_000 };
/** Loops in loops over the same list take time, and no memory. */
const maxLoops = 2;

/** Renders the title, and prepares the text. Throws with the line of the template where it fails. */
export function renderTemplate({ title, text }: MessageTemplate, notice: Notice, origins: Origins): RenderedMessage {
  const values = valuesOf(notice, origins);
  return {
    ...(title !== undefined && { title: render(title, values, (value) => value) }),
    ...(text !== undefined && { text: (escape) => render(text, values, escape) }),
  };
}

function render(template: string, values: object, escape: (value: string) => string): string {
  const loops = template.match(/\b(?:for|tablerow)\s+[\w-]+\s+in\b/g) ?? [];
  if (loops.length > maxLoops) throw new Error(`it has ${loops.length} loops: at most ${maxLoops} are allowed`);
  const engine = new Liquid({
    ...limits,
    ownPropertyOnly: true,
    strictFilters: true,
    // No file can be included.
    templates: {},
    outputEscape: (value: unknown) =>
      escape(typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)),
  });
  // Nothing is put in without being escaped.
  engine.registerFilter('raw', (value: unknown) => value);
  return String(engine.parseAndRenderSync(template, values));
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
