import { ExportResultCode } from '@opentelemetry/core';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { describeError } from '../model/errors.ts';

/** failing: batches are lost from now on · working: they arrive again · dropped: spans came faster than they could be sent. */
export type ExportNews = { readonly kind: 'failing' | 'dropped'; readonly why: string } | { readonly kind: 'working' };

/** An exporter that tells when its collector fails and when it is well again, not of each batch. */
export function tellFailures(exporter: SpanExporter, onNews: (news: ExportNews) => void): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing) onNews({ kind: 'failing', why: describeError(result.error ?? 'no reason given') });
        if (!hasFailed && isFailing) onNews({ kind: 'working' });
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
