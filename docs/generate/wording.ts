import { chinese as texts } from '../explanations/zh-CN.ts';

/** The words of generated tables, in the language of a page. */
export interface Wording {
  readonly headings: readonly [field: string, type: string, standard: string, description: string];
  readonly required: string;
  readonly refused: string;
  /** A rule between fields: the API server states it in English. */
  readonly rule: (field: string, message: string) => string;
  readonly type: (english: string) => string;
  readonly listOf: (entry: string) => string;
  readonly mapOf: (entry: string) => string;
  readonly grouped: (entry: string) => string;
  readonly or: string;
  readonly and: string;
  readonly comma: string;
  readonly characters: string;
  readonly entries: string;
  readonly notEmpty: string;
  readonly atMost: string;
  readonly atLeast: string;
  readonly moreThan: string;
  readonly eachOnce: string;
  readonly matching: string;
  /** A description of the code, or a comment of a sample. */
  readonly text: (english: string) => string;
}

export const english: Wording = {
  headings: ['Field', 'Type', 'Default', 'Description'],
  required: 'required',
  refused: 'Refused by the API server:',
  rule: (field, message) => `${field}: ${message}`,
  type: (name) => name,
  listOf: (entry) => `list of ${entry}`,
  mapOf: (entry) => `map of ${entry}`,
  grouped: (entry) => `(${entry})`,
  or: ' or ',
  and: ', ',
  comma: ', ',
  characters: 'characters',
  entries: 'entries',
  notEmpty: 'not empty',
  atMost: 'at most',
  atLeast: 'at least',
  moreThan: 'more than',
  eachOnce: 'each once',
  matching: 'matching',
  text: (text) => text,
};

const types: Readonly<Record<string, string>> = {
  string: '字符串',
  boolean: '布尔值',
  integer: '整数',
  number: '数字',
  object: '对象',
  time: '时间',
};

export const chinese: Wording = {
  headings: ['字段', '类型', '默认值', '说明'],
  required: '必填',
  refused: 'API 服务器拒绝（其消息为英文）：',
  rule: (field, message) => `${field}：${message}——${chinese.text(message)}`,
  type: (name) => types[name] ?? name,
  listOf: (entry) => `${entry}${entry.endsWith('`') ? ' ' : ''}的列表`,
  mapOf: (entry) => `${entry}${entry.endsWith('`') ? ' ' : ''}的映射`,
  grouped: (entry) => `（${entry}）`,
  or: ' 或 ',
  and: '、',
  comma: '，',
  characters: '个字符',
  entries: '项',
  notEmpty: '不能为空',
  atMost: '最多',
  atLeast: '至少',
  moreThan: '大于',
  eachOnce: '不能重复',
  matching: '匹配',
  text: (text) => {
    const translated = texts[text];
    if (translated === undefined) throw new Error(`docs/explanations/zh-CN.ts has no translation of: ${text}`);
    return translated;
  },
};
