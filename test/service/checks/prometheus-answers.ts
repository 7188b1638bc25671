/**
 * What a Prometheus answers to instant queries, byte for byte: recorded of version 3.16.0 (module github.com/prometheus/prometheus v0.316.0), which scraped itself
 * every second with native histograms. https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries
 */
import type { CheckAnswer } from '../../../src/core/model/rollout-check.ts';

export interface RecordedAnswer {
  readonly query: string;
  readonly status: number;
  readonly body: string;
  /** What it means for a check with `max: 1` that waits for data. */
  readonly means: CheckAnswer['kind'];
}

const answer = (query: string, means: CheckAnswer['kind'], body: string, status = 200): RecordedAnswer => ({ query, status, body, means });
const vector = (result: string, more = '') => `{"status":"success","data":{"resultType":"vector","result":[${result}]}${more}}`;
const of = (resultType: string, result: string) => `{"status":"success","data":{"resultType":"${resultType}","result":${result}}}`;
const self = '"instance":"127.0.0.1:19095","job":"self"';

export const recordedAnswers: readonly RecordedAnswer[] = [
  answer('vector(0.5)', 'pass', vector('{"metric":{},"value":[1795942336.702,"0.5"]}')),
  answer('0.5', 'pass', of('scalar', '[1795942336.72,"0.5"]')),
  answer('-0', 'pass', of('scalar', '[1795942337.042,"-0"]')),
  answer('vector(1e-7)', 'pass', vector('{"metric":{},"value":[1795942336.892,"1e-07"]}')),
  answer('vector(1e25)', 'fail', vector('{"metric":{},"value":[1795942336.928,"1e+25"]}')),
  answer('vector(123456789012345678)', 'fail', vector('{"metric":{},"value":[1795942336.911,"123456789012345680"]}')),
  answer('0/0', 'none', of('scalar', '[1795942336.746,"NaN"]')),
  answer('vector(0)/vector(0)', 'none', vector('{"metric":{},"value":[1795942336.773,"NaN"]}')),
  answer('scalar(nonexistent)', 'none', of('scalar', '[1795942336.972,"NaN"]')),
  answer('vector(1)/0', 'fail', vector('{"metric":{},"value":[1795942336.794,"+Inf"]}')),
  answer('vector(-1)/0', 'pass', vector('{"metric":{},"value":[1795942336.807,"-Inf"]}')),
  answer('nonexistent', 'none', vector('')),
  answer('up == 0', 'none', vector('')),
  answer('absent(nonexistent)', 'pass', vector('{"metric":{},"value":[1795942337.071,"1"]}')),
  answer(
    '{__name__=~"up|scrape_samples_scraped"}',
    'fail',
    vector(
      `{"metric":{"__name__":"up",${self}},"value":[1795942354.400,"1"]},{"metric":{"__name__":"scrape_samples_scraped",${self}},"value":[1795942354.400,"525"]}`,
    ),
  ),
  answer('"abc"', 'none', of('string', '[1795942336.836,"abc"]')),
  answer(
    'up[3s]',
    'none',
    of('matrix', `[{"metric":{"__name__":"up",${self}},"values":[[1795942351.423,"1"],[1795942352.423,"1"],[1795942353.423,"1"]]}]`),
  ),
  answer(
    'prometheus_http_request_duration_seconds{handler="/metrics"}',
    'none',
    vector(
      `{"metric":{"__name__":"prometheus_http_request_duration_seconds","handler":"/metrics",${self}},"histogram":[1795942354.391,{"count":"16","sum":"0.058849613","buckets":[[0,"0.0021298979153618314","0.0023226701464896895","1"]]}]}`,
    ),
  ),
  // An info does not make the number doubtful; a warning does.
  answer(
    'rate(up[5s])',
    'pass',
    vector(
      `{"metric":{${self}},"value":[1795942354.381,"0"]}`,
      ',"infos":["PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: \\"up\\" (1:6)"]',
    ),
  ),
  answer(
    'histogram_quantile(2, up)',
    'none',
    vector(
      '',
      ',"warnings":["PromQL warning: bucket label \\"le\\" is missing or has a malformed value of \\"\\" (1:23)","PromQL warning: quantile value should be between 0 and 1, got 2 (1:20)"]',
    ),
  ),
  answer(
    'sum(',
    'none',
    '{"status":"error","errorType":"bad_data","error":"invalid parameter \\"query\\": 1:5: parse error: unclosed left parenthesis"}',
    400,
  ),
];
