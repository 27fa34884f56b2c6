/** What others may use of this folder; its README says what it promises. */
export { dynamoViewStore, type ViewStore } from './dynamo-view-store.ts';
export {
  keepView,
  type SavedView,
  VIEW_NAME_CHARACTERS_MAX,
  VIEWS_MAX,
  type ViewChange,
  type ViewKey,
  type ViewList,
} from './saved-view.ts';
