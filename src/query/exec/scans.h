// The sources of rows: keyspaces, indexes, values, subqueries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "db/catalog.h"
#include "db/reader.h"
#include "query/exec/expr.h"
#include "query/exec/operator.h"

namespace sluice::query {

// One row without variables: a query without FROM.
PlanPtr MakeDual();

// The documents of one keyspace that a scan makes the present ones of a source.
struct SourceTarget {
  size_t source = 0;  // number in the layout
  db::KeyspaceId keyspace = 0;
  std::string name;  // for EXPLAIN: keyspace and alias
  std::string alias;
};

// USE KEYS: documents by their keys, in the order of the keys.
struct KeyScanOptions {
  SourceTarget target;
  ExprPtr keys;           // a string or an array of strings
  bool validate = false;  // warn of keys without a document
  ExprPtr filter;
};
PlanPtr MakeKeyScan(KeyScanOptions options);

// The keys that META().id = e or META().id IN e may have: strings only, each once.
ExprPtr MakeKeySet(ExprPtr value, bool single);

// A bound of a range; the value is known when the scan opens.
struct BoundExpr {
  ExprPtr value;  // null: no bound
  bool inclusive = true;
};

// All documents, or those with keys in a range, in key order.
struct KeyspaceScanOptions {
  SourceTarget target;
  BoundExpr from;
  BoundExpr to;
  bool reverse = false;
  ExprPtr filter;
};
PlanPtr MakeKeyspaceScan(KeyspaceScanOptions options);

// Ranges of an index: the leading parts equal, the next one between bounds.
struct SpanExpr {
  struct Equal {
    ExprPtr value;
    bool any_of = false;  // IN: the value is an array, each element makes a range
  };
  std::vector<Equal> equal;  // values of the leading parts
  BoundExpr low;             // of the part after them
  BoundExpr high;
  bool bounded = false;    // there is a condition on that part: NULL and MISSING are not in it
  bool with_null = false;  // but NULL is, which IS NOT MISSING allows
};
// A part of an index row that answers a path or META().id without the document.
struct CoveredPart {
  size_t part = 0;
  std::vector<Slot> slots;
};
struct IndexScanOptions {
  SourceTarget target;
  std::shared_ptr<const db::Index> index;
  SpanExpr span;
  std::string text;  // of the conditions, for EXPLAIN
  bool reverse = false;
  // Rows of one document may repeat (array indexes): each document once.
  bool distinct = false;
  bool covering = false;
  std::vector<CoveredPart> covered;
  ExprPtr filter;
  // The rest of the filter if all values of the span are scalars, because then its ranges are
  // exact.
  bool has_scalar_filter = false;
  ExprPtr scalar_filter;
};
PlanPtr MakeIndexScan(IndexScanOptions options);

// The documents that any of several index scans finds, each once, or those that all of them find.
// Only index, span and text of the scans are used.
struct IndexSetOptions {
  SourceTarget target;
  bool intersect = false;  // all; else any
  std::vector<IndexScanOptions> scans;
  ExprPtr filter;
};
PlanPtr MakeIndexSet(IndexSetOptions options);

// Whether all values of the span are booleans, numbers or strings for the present row.
bool HasScalarValues(Context& context, const SpanExpr& span);

// The encoded ranges that a span means for the present row, in index order. Empty when a value is
// unknown (or not an array, for IN): nothing equals it.
std::vector<db::IndexRange> RangesOf(Context& context, const SpanExpr& span,
                                     const db::IndexDefinition& definition);

// The elements of an array; any other value once, MISSING not at all.
struct ValueScanOptions {
  Slot slot = 0;
  ExprPtr value;
  // UNNEST: only arrays have rows.
  bool arrays_only = false;
  Slot position_slot = 0;  // for the element's position in the array; 0 if unused
  std::string alias;
  std::string text;
};
PlanPtr MakeValueScan(ValueScanOptions options);

// The rows of a subquery, one by one.
PlanPtr MakeQueryScan(std::shared_ptr<const QueryPlan> query, Slot slot, std::string alias);

// Rows about the server itself: system:NAME.
PlanPtr MakeSystemScan(std::string name, Slot slot, std::string alias);

}  // namespace sluice::query
