// The fastest exact search: bounds for all documents from a table of costs, then best first.
#pragma once

#include "search/lower_costs.h"
#include "search/query.h"

namespace textkin::search {

// Searches for queries that have words, each with its own Query object. `costs` may keep rows of
// earlier searches.
void search_automatically(const Space& space, const Corpus& corpus, LowerCosts& costs,
                          std::span<Query* const> queries, const SearchOptions& options,
                          base::Stop& stop);

} // namespace textkin::search
